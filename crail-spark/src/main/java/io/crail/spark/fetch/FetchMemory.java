/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailBuffer;
import io.crail.CrailStore;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Cuts the memory of blocks from the store's buffers, so that many small blocks share a buffer. A
 * buffer goes back to the store when all its pieces were released. Used by one thread; pieces may
 * be released by any.
 */
final class FetchMemory implements AutoCloseable {
  private static final int ALIGNMENT = 8;

  private final CrailStore store;
  private Lent lent;
  private int used;

  FetchMemory(CrailStore store) {
    this.store = store;
  }

  /** A buffer, and the number of its pieces, and one more while pieces are still cut from it. */
  private static final class Lent {
    private final CrailStore store;
    private final CrailBuffer buffer;
    private final AtomicInteger users = new AtomicInteger(1);

    Lent(CrailStore store, CrailBuffer buffer) {
      this.store = store;
      this.buffer = buffer;
    }

    void release() {
      if (users.decrementAndGet() == 0) {
        try {
          store.freeBuffer(buffer);
        } catch (Exception e) {
          // Only a buffer of another store, or one that is free already, is refused.
          throw new IllegalStateException(e);
        }
      }
    }
  }

  /** A part of a buffer. */
  static final class Piece {
    private final Lent lent;
    private final CrailBuffer slice;
    private final int length;

    Piece(Lent lent, int offset, int length) {
      this.lent = lent;
      this.length = length;
      lent.users.incrementAndGet();
      lent.buffer.clear();
      lent.buffer.position(offset).limit(offset + length);
      this.slice = lent.buffer.slice();
    }

    int length() {
      return length;
    }

    /** The memory for a transfer. */
    CrailBuffer buffer() {
      return slice.clear();
    }

    /** The same bytes; positions are not used. */
    ByteBuffer memory() {
      return slice.getByteBuffer();
    }

    void release() {
      lent.release();
    }
  }

  /**
   * Takes a piece.
   *
   * @param most bytes that are wanted
   * @return a piece of that length, or shorter at the end of a buffer
   */
  Piece take(long most) throws Exception {
    if (lent != null && lent.buffer.capacity() - used < Math.min(most, ALIGNMENT)) {
      close();
    }
    if (lent == null) {
      lent = new Lent(store, store.allocateBuffer());
      used = 0;
    }
    int length = (int) Math.min(most, lent.buffer.capacity() - used);
    Piece piece = new Piece(lent, used, length);
    used = Math.min(used + length + ALIGNMENT - 1 & -ALIGNMENT, lent.buffer.capacity());
    return piece;
  }

  /** Cuts no more pieces. */
  @Override
  public void close() {
    if (lent != null) {
      lent.release();
      lent = null;
    }
  }
}
