/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The bytes of an input, taken from the front. Zeros follow after its end. Not thread-safe. */
final class Input implements Choices {
  private final byte[] bytes;
  private int at;

  Input(byte[] bytes) {
    this.bytes = bytes;
  }

  int left() {
    return bytes.length - at;
  }

  int u8() {
    return at < bytes.length ? bytes[at++] & 0xff : 0;
  }

  int u16() {
    return u8() | u8() << 8;
  }

  int i32() {
    return u16() | u16() << 16;
  }

  @Override
  public long bits() {
    return i32() & 0xffffffffL | (long) i32() << 32;
  }

  @Override
  public int below(int bound) {
    return (bound <= 256 ? u8() : i32() & Integer.MAX_VALUE) % bound;
  }

  /** The next bytes; fewer at the end of the input. */
  byte[] take(int most) {
    int count = Math.min(most, left());
    at += count;
    return Arrays.copyOfRange(bytes, at - count, at);
  }

  /** All remaining bytes. */
  byte[] rest() {
    return take(left());
  }

  /** All remaining bytes as UTF-8. Invalid bytes become U+FFFD. */
  String restText() {
    return new String(rest(), StandardCharsets.UTF_8);
  }

  /** All remaining bytes, little-endian, in memory of exactly their length. */
  ByteBuffer restBuffer() {
    byte[] rest = rest();
    return ByteBuffer.allocateDirect(rest.length).order(ByteOrder.LITTLE_ENDIAN).put(0, rest);
  }
}
