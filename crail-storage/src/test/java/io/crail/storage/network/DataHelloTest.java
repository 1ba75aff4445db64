/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.util.HexFormat;
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

  @Test
  void bytesOnTheWireStay() {
    assertEquals(
        "4352444e" + VERSION + "000000080706050403020118171615141312112827262524232221",
        hex(DataHello.requestBytes(OWN, CLIENT)));
    assertEquals(
        "4352444e" + VERSION + "0000001a000000", hex(DataHello.responseBytes(ErrorCode.DATA_LOST)));
  }

  @Test
  void aClientSaysWhoItIs() throws Exception {
    assertEquals(CLIENT, DataHello.clientId(padded(DataHello.requestBytes(OWN, CLIENT), 56)));
  }

  @Test
  void onlyTheExpectedDatanodeAccepts() {
    ByteBuffer request = padded(DataHello.requestBytes(OWN, CLIENT), 56);
    assertEquals(ErrorCode.OK, DataHello.check(request, OWN));
    assertEquals(ErrorCode.OK, DataHello.check(DataHello.requestBytes(OWN, CLIENT), OWN));
    assertEquals(ErrorCode.DATA_LOST, DataHello.check(request, new UUID(1, 2)));
    for (int length = 0; length < DataHello.requestBytes(OWN, CLIENT).remaining(); length++) {
      ByteBuffer cut = DataHello.requestBytes(OWN, CLIENT).limit(length);
      assertEquals(ErrorCode.PROTOCOL, DataHello.check(cut, OWN));
    }
    assertEquals(ErrorCode.PROTOCOL, DataHello.check(ByteBuffer.allocate(56), OWN));
    ByteBuffer otherVersion = DataHello.requestBytes(OWN, CLIENT);
    otherVersion.put(4, (byte) (Frame.VERSION + 1));
    assertEquals(ErrorCode.PROTOCOL, DataHello.check(otherVersion, OWN));
  }

  @Test
  void distinguishesAnswersOfDatanodesFromThoseOfTheNetwork() {
    for (ErrorCode code : ErrorCode.values()) {
      assertEquals(code, DataHello.answer(padded(DataHello.responseBytes(code), 148)));
    }
    assertNull(DataHello.answer((ByteBuffer) null));
    assertNull(DataHello.answer(ByteBuffer.allocate(0)));
    assertNull(DataHello.answer(ByteBuffer.allocate(148)));
    ByteBuffer otherVersion = DataHello.responseBytes(ErrorCode.OK);
    otherVersion.put(4, (byte) (Frame.VERSION + 1));
    assertEquals(ErrorCode.PROTOCOL, DataHello.answer(otherVersion));
  }
}
