/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailBuffer;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;

/** Bytes that tell their writer and their position. */
final class Pattern {
  private Pattern() {}

  /** The byte of a writer at a position. */
  static byte at(long writer, long position) {
    return of(word(writer, position), position);
  }

  private static long word(long writer, long position) {
    long mixed = (writer ^ (position >>> 3)) * 0x9E3779B97F4A7C15L;
    return mixed ^ mixed >>> 32;
  }

  private static byte of(long word, long position) {
    return (byte) (word >>> ((position & 7) * 7));
  }

  /** Fills a part of a buffer with the bytes of a writer. The first byte has the given position. */
  static void fill(ByteBuffer bytes, int from, int to, long writer, long position) {
    long word = word(writer, position);
    for (int i = from; i < to; i++) {
      long at = position + i - from;
      word = (at & 7) == 0 ? word(writer, at) : word;
      bytes.put(i, of(word, at));
    }
  }

  /** The index of the first byte that is not the writer's; {@code to} when all bytes are. */
  static int mismatch(ByteBuffer bytes, int from, int to, long writer, long position) {
    long word = word(writer, position);
    for (int i = from; i < to; i++) {
      long at = position + i - from;
      word = (at & 7) == 0 ? word(writer, at) : word;
      if (bytes.get(i) != of(word, at)) {
        return i;
      }
    }
    return to;
  }

  /** A direct buffer with the bytes of a writer. */
  static CrailBuffer buffer(long writer, long position, int length) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    fill(bytes, 0, length, writer, position);
    return OffHeapBuffer.wrap(bytes);
  }

  /** A direct buffer of {@code length} bytes, filled with a byte that no client writes. */
  static CrailBuffer empty(int length) {
    return OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
  }
}
