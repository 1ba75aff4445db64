/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.CrailBuffer;
import io.crail.CrailBufferCache;
import io.crail.Upcoming;
import io.crail.common.error.LimitExceededException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * Memory of the store through which short ranges reach the heap, so that they can be in flight at
 * the same time. Ranges get pieces of a few buffers, one buffer after the other. Used by one
 * thread, which gives the memory back at the end.
 */
final class RangeMemory {
  /** Longest range; a longer one is read by itself. */
  static final int MAX_LENGTH = 512 << 10;

  /** Most buffers at a time. */
  static final int MAX_BUFFERS = 4;

  private final CrailBufferCache cache;
  private final List<CrailBuffer> lent = new ArrayList<>();

  /** Reads that have not ended in time, and may still write to their memory. */
  private final List<Upcoming<?>> late = new ArrayList<>();

  /** Index of the buffer that is being cut. All buffers before it are used up. */
  private int current;

  RangeMemory(CrailBufferCache cache) {
    this.cache = cache;
  }

  /** Whether so many bytes fit into a buffer; false when the store lends none now. */
  boolean hasRoom(long length) throws Exception {
    return length <= MAX_LENGTH && (!lent.isEmpty() || lend()) && length <= lent.get(0).capacity();
  }

  /**
   * Memory for what a buffer {@linkplain #hasRoom has room} for.
   *
   * @return null when there is none now
   */
  CrailBuffer take(int length) throws Exception {
    while (current < lent.size() || lend()) {
      CrailBuffer buffer = lent.get(current);
      if (buffer.remaining() >= length) {
        return cut(buffer, length);
      }
      current++;
    }
    return null;
  }

  private boolean lend() throws Exception {
    try {
      return lent.size() < MAX_BUFFERS && lent.add(cache.allocateBuffer());
    } catch (LimitExceededException e) {
      // Fewer buffers, or none, are enough: a range without memory is read by itself.
      return false;
    }
  }

  private static CrailBuffer cut(CrailBuffer buffer, int length) {
    int begin = buffer.position();
    buffer.limit(begin + length);
    CrailBuffer part = buffer.slice();
    buffer.limit(buffer.capacity()).position(begin + length);
    return part;
  }

  /** A read has not ended in time. */
  void late(Future<?> read) {
    // A stream issues nothing else.
    late.add((Upcoming<?>) read);
  }

  /**
   * Makes all memory free again, since all reads have ended. While a read is late, no memory is
   * free.
   */
  void reuse() {
    if (endedAll()) {
      lent.forEach(CrailBuffer::clear);
      current = 0;
    }
  }

  /** Gives all memory back. When reads are late, the thread that ends the last of them does it. */
  void giveBack() throws Exception {
    if (endedAll()) {
      free();
      return;
    }
    CompletableFuture<?>[] ends =
        late.stream()
            .map(read -> read.toCompletableFuture(Runnable::run))
            .toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(ends).whenComplete((nothing, failure) -> freeLate());
  }

  private void freeLate() {
    try {
      free();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void free() throws Exception {
    if (!lent.isEmpty()) {
      try {
        cache.freeBuffer(lent.remove(lent.size() - 1));
      } finally {
        free();
      }
    }
  }

  private boolean endedAll() {
    late.removeIf(Future::isDone);
    return late.isEmpty();
  }
}
