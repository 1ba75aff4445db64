/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An immutable piece of UTF-8 text, compared by its bytes. It travels on the wire unchanged, so a
 * {@code String} is made only when it is read.
 */
public final class Utf8 implements ByteSequence, Comparable<Utf8> {
  /** The empty text. */
  public static final Utf8 EMPTY = new Utf8(new byte[0]);

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;

  private Utf8(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The text of a {@code String}. */
  public static Utf8 of(String text) {
    return text.isEmpty() ? EMPTY : new Utf8(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The text of an array that the caller gives away: it must not change any more. */
  public static Utf8 ofGiven(byte[] bytes) {
    return new Utf8(bytes);
  }

  /** A copy of bytes in an array. */
  public static Utf8 copyOf(byte[] bytes, int offset, int length) {
    return length == 0 ? EMPTY : new Utf8(Arrays.copyOfRange(bytes, offset, offset + length));
  }

  /** A copy of bytes in a buffer, read at an absolute offset. */
  public static Utf8 copyOf(ByteBuffer buffer, int offset, int length) {
    if (length == 0) {
      return EMPTY;
    }
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    return new Utf8(bytes);
  }

  @Override
  public int length() {
    return bytes.length;
  }

  @Override
  public byte byteAt(int index) {
    return bytes[index];
  }

  /** The eight bytes from {@code index} on as a word; the first byte is the lowest. */
  public long wordAt(int index) {
    return (long) WORDS.get(bytes, index);
  }

  /** Copies all bytes into a buffer, at an absolute offset. */
  public void copyTo(ByteBuffer buffer, int offset) {
    buffer.put(offset, bytes);
  }

  /** Copies all bytes into an array. */
  public void copyTo(byte[] target, int offset) {
    System.arraycopy(bytes, 0, target, offset, bytes.length);
  }

  /** A copy of the bytes. */
  public byte[] toByteArray() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Utf8 && Arrays.equals(bytes, ((Utf8) other).bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public int compareTo(Utf8 other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
