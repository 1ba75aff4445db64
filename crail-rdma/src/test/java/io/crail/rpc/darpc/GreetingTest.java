/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The private data of connections. */
class GreetingTest {
  private static ByteBuffer padded(ByteBuffer data, int length) {
    return ByteBuffer.allocate(length).put(data.duplicate()).rewind();
  }

  @Test
  void hasItsLayout() throws Exception {
    ByteBuffer data = new Greeting(4096, 32).encode();
    assertEquals(
        "43726169" + "00000001" + "00001000" + "00000020", HexFormat.of().formatHex(data.array()));
    assertEquals(new Greeting(4096, 32), Greeting.decode(data));
    assertEquals(new Greeting(4096, 32), Greeting.decode(padded(data, 196)));
  }

  @Test
  void takesOthersForOthers() throws Exception {
    assertNull(Greeting.decode(null));
    ByteBuffer data = new Greeting(4096, 32).encode();
    for (int length = 0; length < 16; length++) {
      assertNull(Greeting.decode(data.duplicate().limit(length)));
    }
    assertNull(Greeting.decode(ByteBuffer.allocate(56)));
    assertNull(Greeting.decode(padded(ByteBuffer.wrap("rdma-ping".getBytes()), 56)));
  }

  @Test
  void refusesWhatCannotBe() {
    for (int[] bad :
        new int[][] {
          {63, 32}, {-1, 32}, {Integer.MAX_VALUE, 32}, {4096, 3}, {4096, -1}, {4096, 1 << 30}
        }) {
      CrailException refusal =
          assertThrows(
              CrailException.class, () -> Greeting.decode(new Greeting(bad[0], bad[1]).encode()));
      assertEquals(ErrorCode.PROTOCOL, refusal.code());
    }
    ByteBuffer newer = new Greeting(4096, 32).encode().putInt(4, 2);
    String text = assertThrows(CrailException.class, () -> Greeting.decode(newer)).getMessage();
    assertTrue(text.contains("version 2") && text.contains("version 1"), text);
  }

  @Test
  void carriesTheReasonOfARefusal() {
    ByteBuffer data = Greeting.refusal("there are 7 connections already");
    assertEquals("there are 7 connections already", Greeting.reason(padded(data, 148)));
    assertTrue(Greeting.refusal("x".repeat(1000)).remaining() <= 148);
    assertEquals("", Greeting.reason(null));
    assertEquals("", Greeting.reason(ByteBuffer.allocate(148)));
  }
}
