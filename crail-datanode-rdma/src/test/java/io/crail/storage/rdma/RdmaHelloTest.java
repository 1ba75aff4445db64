/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.verbs.Verbs;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RdmaHelloTest {
  private static final UUID OWN = new UUID(0x0102030405060708L, 0x1112131415161718L);
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
        "4352445202000000080706050403020118171615141312112827262524232221",
        hex(RdmaHello.request(OWN, CLIENT)));
    assertEquals("43524452020000001a000000", hex(RdmaHello.response(ErrorCode.DATA_LOST)));
    assertTrue(RdmaHello.request(OWN, CLIENT).remaining() <= Verbs.MAX_CONNECT_DATA);
    assertTrue(RdmaHello.response(ErrorCode.OK).remaining() <= Verbs.MAX_REJECT_DATA);
  }

  @Test
  void aClientSaysWhoItIs() throws Exception {
    assertEquals(CLIENT, RdmaHello.clientId(padded(RdmaHello.request(OWN, CLIENT), 56)));
  }

  @Test
  void onlyTheExpectedDatanodeAccepts() {
    ByteBuffer request = padded(RdmaHello.request(OWN, CLIENT), 56);
    assertEquals(ErrorCode.OK, RdmaHello.check(request, OWN));
    assertEquals(ErrorCode.OK, RdmaHello.check(RdmaHello.request(OWN, CLIENT), OWN));
    assertEquals(ErrorCode.DATA_LOST, RdmaHello.check(request, new UUID(1, 2)));
    for (int length = 0; length < RdmaHello.request(OWN, CLIENT).remaining(); length++) {
      ByteBuffer cut = RdmaHello.request(OWN, CLIENT).limit(length);
      assertEquals(ErrorCode.PROTOCOL, RdmaHello.check(cut, OWN));
    }
    assertEquals(ErrorCode.PROTOCOL, RdmaHello.check(ByteBuffer.allocate(56), OWN));
    ByteBuffer otherVersion = RdmaHello.request(OWN, CLIENT);
    otherVersion.put(4, (byte) 9);
    assertEquals(ErrorCode.PROTOCOL, RdmaHello.check(otherVersion, OWN));
  }

  @Test
  void answersOfDatanodesAreToldFromThoseOfTheNetwork() {
    for (ErrorCode code : ErrorCode.values()) {
      assertEquals(code, RdmaHello.answer(padded(RdmaHello.response(code), 148)));
    }
    assertNull(RdmaHello.answer(null));
    assertNull(RdmaHello.answer(ByteBuffer.allocate(0)));
    assertNull(RdmaHello.answer(ByteBuffer.allocate(148)));
    ByteBuffer otherVersion = RdmaHello.response(ErrorCode.OK);
    otherVersion.put(4, (byte) 9);
    assertEquals(ErrorCode.PROTOCOL, RdmaHello.answer(otherVersion));
  }
}
