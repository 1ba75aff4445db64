/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Right;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DataHelloTest {
  private static final UUID OWN = new UUID(0x0102030405060708L, 0x1112131415161718L);
  private static final String VERSION = HexFormat.of().toHexDigits((byte) Frame.VERSION);
  private static final long CLIENT = 0x2122232425262728L;

  /** As networks deliver it. */
  private static ByteBuffer padded(ByteBuffer data, int length) {
    return ByteBuffer.allocate(length).put(data.duplicate()).rewind();
  }

  private static String hex(ByteBuffer data) {
    byte[] bytes = new byte[data.remaining()];
    data.duplicate().get(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static ByteBuffer hello(UUID uuid) {
    return DataHello.bytes(DataHello.request(uuid, CLIENT));
  }

  private static ByteBuffer answer(ErrorCode code) {
    return DataHello.bytes(DataHello.response(code));
  }

  /** How a datanode answers a request that may be padded. */
  private static ErrorCode verdict(ByteBuffer request) {
    return verdict(Mechanisms.ANYBODY, request);
  }

  private static ErrorCode verdict(Mechanisms mechanisms, ByteBuffer request) {
    DataLogin login = new DataLogin(mechanisms, OWN);
    try {
      DataHello.Response answer = login.onlyHello(DataHello.request(request), 148);
      assertEquals(CLIENT, login.caller().client());
      return ErrorCode.of(answer.code());
    } catch (CrailException e) {
      assertNull(login.caller());
      return e.code();
    }
  }

  @Test
  void bytesOnTheWireStay() {
    assertEquals(
        "4352444e" + VERSION + "000000080706050403020118171615141312112827262524232221",
        hex(hello(OWN)));
    assertEquals("4352444e" + VERSION + "0000001a000000", hex(answer(ErrorCode.DATA_LOST)));
  }

  @Test
  void onlyTheExpectedDatanodeAccepts() {
    ByteBuffer request = padded(hello(OWN), 56);
    assertEquals(ErrorCode.OK, verdict(request));
    assertEquals(ErrorCode.OK, verdict(hello(OWN)));
    assertEquals(ErrorCode.DATA_LOST, verdict(padded(hello(new UUID(1, 2)), 56)));
    for (int length = 0; length < hello(OWN).remaining(); length++) {
      assertEquals(ErrorCode.PROTOCOL, verdict(hello(OWN).limit(length)));
    }
    assertEquals(ErrorCode.PROTOCOL, verdict(ByteBuffer.allocate(56)));
    ByteBuffer otherVersion = hello(OWN);
    otherVersion.put(4, (byte) (Frame.VERSION + 1));
    assertEquals(ErrorCode.PROTOCOL, verdict(otherVersion));
  }

  @Test
  void aProofTravelsInPaddedData() throws Exception {
    int room = 56 - hello(OWN).remaining();
    assertEquals(24, room, "bytes of a proof");
    for (int length : new int[] {1, room}) {
      ByteBuffer request =
          DataHello.bytes(
              DataHello.request(
                  OWN, CLIENT, new ClientLogin(new Proof(length), Claim.ofClient(CLIENT))));
      assertEquals(ErrorCode.UNSUPPORTED, verdict(padded(request, 56)), "not without it");
      assertEquals(ErrorCode.OK, verdict(proving(length, 100), padded(request, 56)));
      assertEquals(ErrorCode.INVALID_ARGUMENT, verdict(proving(9, 9), padded(request, 56)));
      assertEquals(
          ErrorCode.UNSUPPORTED, verdict(proving(length, 137), request), "too long an answer");
      assertEquals(ErrorCode.UNSUPPORTED, verdict(proving(length, -1), request), "another round");
    }
    ByteBuffer lying = padded(hello(OWN), 56).putShort(6, Short.reverseBytes((short) 25));
    assertEquals(ErrorCode.PROTOCOL, verdict(lying));
  }

  /** A login by a number of zeros. */
  private record Proof(int length) implements Credentials {
    @Override
    public int mechanism() {
      return 200;
    }

    @Override
    public Initiator begin(Claim claim) {
      return new Initiator() {
        @Override
        public byte[] first() {
          return new byte[length];
        }

        @Override
        public byte[] next(byte[] challenge) {
          return challenge;
        }
      };
    }
  }

  /** A server that wants such a number; {@code answer} is the length of its answer, -1: more. */
  private static Mechanisms proving(int length, int answer) {
    return new Mechanisms(
        List.of(
            new Mechanism() {
              @Override
              public int number() {
                return 200;
              }

              @Override
              public String name() {
                return "zeros";
              }

              @Override
              public Acceptor begin(Claim claim) {
                return message -> {
                  if (message.length != length) {
                    throw ErrorCode.INVALID_ARGUMENT.exception("no proof");
                  }
                  return answer < 0
                      ? Reply.challenge(message)
                      : Reply.accept(
                          new byte[answer],
                          new Caller(claim.principal(), claim.client(), Right.ALL));
                };
              }
            }));
  }

  @Test
  void distinguishesAnswersOfDatanodesFromThoseOfTheNetwork() {
    for (ErrorCode code : ErrorCode.values()) {
      assertEquals(code, DataHello.answer(padded(answer(code), 148)));
    }
    assertNull(DataHello.answer((ByteBuffer) null));
    assertNull(DataHello.answer(ByteBuffer.allocate(0)));
    assertNull(DataHello.answer(ByteBuffer.allocate(148)));
    ByteBuffer otherVersion = answer(ErrorCode.OK);
    otherVersion.put(4, (byte) (Frame.VERSION + 1));
    assertEquals(ErrorCode.PROTOCOL, DataHello.answer(otherVersion));
  }
}
