/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.common.error.CrailException;
import io.crail.memory.BufferMemory;
import io.crail.memory.BufferPool;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The slices of one buffered stream, cut from buffers of the pool as they are needed. */
final class SliceMemory implements AutoCloseable {
  private final BufferPool pool;
  private final int sliceBytes;
  private final int most;
  private final List<CrailBuffer> buffers = new ArrayList<>();
  private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
  private final Map<ByteBuffer, ByteBuffer> roots = new IdentityHashMap<>();
  private int made;

  /**
   * Creates the memory without taking a buffer.
   *
   * @param most most slices
   */
  SliceMemory(BufferPool pool, int sliceBytes, int most) {
    this.pool = pool;
    this.sliceBytes = sliceBytes;
    this.most = most;
  }

  /** A cleared slice, or null when all are in use. */
  ByteBuffer take() throws CrailException {
    if (free.isEmpty() && made < most) {
      CrailBuffer buffer = pool.allocateBuffer();
      buffers.add(buffer);
      for (int at = 0; at < buffer.capacity() && made < most; at += sliceBytes) {
        ByteBuffer slice = BufferMemory.of(buffer).slice(at, sliceBytes);
        roots.put(slice, BufferMemory.rootOf(buffer));
        free.addLast(slice);
        made++;
      }
    }
    ByteBuffer slice = free.pollFirst();
    return slice == null ? null : slice.clear();
  }

  /** The memory that a slice was cut from, as the pool allocated it. */
  ByteBuffer rootOf(ByteBuffer slice) {
    return roots.get(slice);
  }

  /** Takes a slice back. */
  void release(ByteBuffer slice) {
    free.addFirst(slice);
  }

  /** Gives all buffers back. Nothing may use them any more. */
  @Override
  public void close() {
    free.clear();
    roots.clear();
    made = most;
    buffers.forEach(pool::freeBuffer);
    buffers.clear();
  }
}
