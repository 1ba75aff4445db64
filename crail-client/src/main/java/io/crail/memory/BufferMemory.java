/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import io.crail.CrailBuffer;
import java.nio.ByteBuffer;

/**
 * The memory of buffers, for streams and others that use it only as long as the buffer is lent. A
 * program that asks a buffer for its {@link CrailBuffer#getByteBuffer} may keep that.
 */
public final class BufferMemory {
  private BufferMemory() {}

  /**
   * Gives the memory of a buffer.
   *
   * @param buffer any buffer
   * @return its memory, with its position and limit
   */
  public static ByteBuffer of(CrailBuffer buffer) {
    return buffer instanceof OffHeapBuffer known ? known.memory() : buffer.getByteBuffer();
  }

  /**
   * Gives the memory that a buffer was cut from.
   *
   * @param buffer any buffer
   * @return the same object for all buffers that were cut from it
   */
  public static ByteBuffer rootOf(CrailBuffer buffer) {
    CrailBuffer region =
        buffer instanceof OffHeapBuffer known ? known.region() : buffer.getRegion();
    ByteBuffer root = region == null ? null : of(region);
    return root != null && root.isDirect() ? root : of(buffer);
  }
}
