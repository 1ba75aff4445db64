/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.name;

import java.nio.ByteBuffer;

/**
 * Names as 64-bit little-endian words, read straight from a request: a name of up to {@value
 * #INLINE_LENGTH} bytes is three words, so hashing and comparing it take a few instructions and no
 * array. All buffers are little-endian and accessed at absolute offsets.
 */
public final class NodeName {
  /** The most bytes of a name that is kept in its node. */
  public static final int INLINE_LENGTH = 3 * Long.BYTES;

  private static final long SLASHES = 0x2f2f2f2f2f2f2f2fL;
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  private NodeName() {}

  /**
   * The eight bytes that begin at {@code start}, with zeros for those from {@code end} on.
   *
   * @param start absolute offset; if it is not below {@code end}, the word is 0
   */
  public static long word(ByteBuffer buffer, int start, int end) {
    int left = end - start;
    if (left >= Long.BYTES) {
      return buffer.getLong(start);
    }
    if (left <= 0) {
      return 0;
    }
    if (end >= Long.BYTES) {
      // Reads earlier bytes and shifts them out, since it must not read beyond the end of the
      // buffer.
      return buffer.getLong(end - Long.BYTES) >>> (Long.SIZE - left * Byte.SIZE);
    }
    long word = 0;
    for (int i = left - 1; i >= 0; i--) {
      word = word << Byte.SIZE | buffer.get(start + i) & 0xff;
    }
    return word;
  }

  /** The offset of the first slash in {@code [start, end)}, or {@code end}. */
  public static int endOfComponent(ByteBuffer buffer, int start, int end) {
    int at = start;
    while (end - at >= Long.BYTES) {
      long found = slashes(buffer.getLong(at));
      if (found != 0) {
        return at + (Long.numberOfTrailingZeros(found) >>> 3);
      }
      at += Long.BYTES;
    }
    if (at < end) {
      long found = slashes(word(buffer, at, end));
      if (found != 0) {
        return at + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    return end;
  }

  /** Has the high bit of the first byte that is a slash, and none below it. */
  private static long slashes(long word) {
    long difference = word ^ SLASHES;
    return (difference - LOW_BITS) & ~difference & HIGH_BITS;
  }

  /** The bytes of an inline name. */
  public static byte[] bytes(long word0, long word1, long word2, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      long word = i < 8 ? word0 : i < 16 ? word1 : word2;
      bytes[i] = (byte) (word >>> ((i & 7) * Byte.SIZE));
    }
    return bytes;
  }
}
