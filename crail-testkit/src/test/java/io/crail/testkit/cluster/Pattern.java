/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailBuffer;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;

/** Bytes that tell who has written them, and where. */
final class Pattern {
  private Pattern() {}

  /** The byte of a writer at a position. */
  static byte at(long writer, long position) {
    long mixed = (writer ^ (position >>> 3)) * 0x9E3779B97F4A7C15L;
    mixed ^= mixed >>> 32;
    return (byte) (mixed >>> ((position & 7) * 7));
  }

  /** A direct buffer with the bytes of a writer. */
  static CrailBuffer buffer(long writer, long position, int length) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      bytes.put(i, at(writer, position + i));
    }
    return OffHeapBuffer.wrap(bytes);
  }

  /** A direct buffer for so many bytes, full of what nobody writes. */
  static CrailBuffer empty(int length) {
    return OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
  }
}
