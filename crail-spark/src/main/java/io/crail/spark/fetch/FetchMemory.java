/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailBuffer;
import io.crail.CrailBufferCache;
import io.crail.Upcoming;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.concurrent.Future;

/**
 * Cuts the memory of all that an executor fetches from the store's buffers, so that many small
 * blocks share a buffer, and lends no more than its share of them: the others are for writers, and
 * for blocks that are read while they are used. A buffer goes back to the store when all its pieces
 * were released. Thread-safe.
 */
final class FetchMemory implements AutoCloseable {
  private static final int ALIGNMENT = 8;

  private final CrailBufferCache store;
  private final long limitBytes;

  /** The buffer that pieces are cut from; null for none. */
  private Lent present;

  private int used;
  private long lentBytes;

  /**
   * Lends nothing yet.
   *
   * @param limitBytes most bytes that are lent at a time, but for the rest of the last buffer
   */
  FetchMemory(CrailBufferCache store, long limitBytes) {
    this.store = store;
    this.limitBytes = limitBytes;
  }

  /** A buffer and the number of its pieces; guarded by the memory. */
  private static final class Lent {
    private final CrailBuffer buffer;
    private int pieces;

    Lent(CrailBuffer buffer) {
      this.buffer = buffer;
    }
  }

  /** A part of a buffer. */
  final class Piece {
    private final Lent lent;
    private final CrailBuffer slice;
    private final int length;

    Piece(Lent lent, int offset, int length) {
      this.lent = lent;
      this.length = length;
      lent.pieces++;
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

    /** Gives it back. */
    void release() {
      FetchMemory.this.release(lent);
    }

    /**
     * Gives it back once a read has ended that was given up.
     *
     * @param read null when none was issued
     */
    void releaseAfter(Future<?> read) {
      if (read == null || read.isDone()) {
        release();
      } else {
        // Late bytes may still be written there, so it must not be lent again.
        ((Upcoming<?>) read).toCompletableFuture().whenComplete((result, error) -> release());
      }
    }
  }

  /**
   * Takes a piece.
   *
   * @param most bytes that are wanted
   * @return a piece of that length, or shorter at the end of a buffer
   * @throws Exception a {@code LimitExceededException} when the share is lent, or all buffers are
   */
  synchronized Piece take(long most) throws Exception {
    if (present != null && present.pieces == 0) {
      used = 0;
    }
    if (present != null && present.buffer.capacity() - used < Math.min(most, ALIGNMENT)) {
      leavePresent();
    }
    if (present == null) {
      if (lentBytes >= limitBytes) {
        throw ErrorCode.LIMIT_EXCEEDED.exception("fetched blocks have their share of all buffers");
      }
      present = new Lent(store.allocateBuffer());
      lentBytes += present.buffer.capacity();
      used = 0;
    }
    int length = (int) Math.min(most, present.buffer.capacity() - used);
    Piece piece = new Piece(present, used, length);
    used = Math.min(used + length + ALIGNMENT - 1 & -ALIGNMENT, present.buffer.capacity());
    return piece;
  }

  private synchronized void release(Lent lent) {
    lent.pieces--;
    giveBackUnused(lent);
  }

  /** Gives a buffer back that has no pieces, and from which none will be cut. */
  private void giveBackUnused(Lent lent) {
    if (lent.pieces > 0 || lent == present) {
      return;
    }
    lentBytes -= lent.buffer.capacity();
    try {
      store.freeBuffer(lent.buffer);
    } catch (Exception e) {
      // Only a buffer of another store, or one that is free already, is refused.
      throw new IllegalStateException(e);
    }
  }

  private void leavePresent() {
    if (present != null) {
      Lent left = present;
      present = null;
      giveBackUnused(left);
    }
  }

  /** {@return the bytes of the buffers that are lent} */
  synchronized long lentBytes() {
    return lentBytes;
  }

  /** Gives back what has no pieces, and the rest with its last piece. */
  @Override
  public synchronized void close() {
    leavePresent();
  }
}
