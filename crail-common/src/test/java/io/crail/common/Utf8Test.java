/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class Utf8Test {
  @Test
  void textsWithEqualBytesAreEqual() {
    Utf8 text = Utf8.of("größe/\uD83D\uDE00");
    byte[] bytes = text.toByteArray();
    assertEquals("größe/\uD83D\uDE00", text.toString());
    assertEquals(text, Utf8.copyOf(bytes, 0, bytes.length));
    assertEquals(text.hashCode(), Utf8.copyOf(bytes, 0, bytes.length).hashCode());
    assertNotEquals(text, Utf8.of("größe"));
    assertSame(Utf8.EMPTY, Utf8.of(""));
  }

  @Test
  void copiesKeepNoHoldOfTheirSource() {
    byte[] bytes = {'a', 'b', 'c'};
    Utf8 text = Utf8.copyOf(bytes, 1, 2);
    bytes[1] = 'x';
    text.toByteArray()[0] = 'y';
    assertEquals("bc", text.toString());
  }

  @Test
  void buffersAreReadAndWrittenAtAbsoluteOffsets() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(8);
    Utf8.of("abc").copyTo(buffer, 3);
    assertEquals("abc", Utf8.copyOf(buffer, 3, 3).toString());
    assertEquals(0, buffer.position());
  }

  @Test
  void orderIsThatOfUnsignedBytes() {
    assertTrue(Utf8.of("a").compareTo(Utf8.of("b")) < 0);
    assertTrue(Utf8.of("z").compareTo(Utf8.of("ä")) < 0);
    assertTrue(Utf8.of("a").compareTo(Utf8.of("aa")) < 0);
  }
}
