/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;
import java.util.ArrayList;
import java.util.List;

/**
 * The pieces of memory that one buffered stream has. Thread-safe: an operation may give its piece
 * back when it ends, and another thread closes this when the stream was dropped without a close.
 */
final class SliceMemory implements AutoCloseable {
  private final StreamMemory shared;
  private final int most;
  private final List<StreamMemory.Piece> taken = new ArrayList<>(2);

  /**
   * Creates the memory without a piece.
   *
   * @param most most pieces at a time
   */
  SliceMemory(StreamMemory shared, int most) {
    this.shared = shared;
    this.most = most;
  }

  /**
   * Takes a piece.
   *
   * @param wanted bytes that there is use for
   * @return null when the stream has as many as it may
   * @throws CrailException a {@code LimitExceededException} when no memory is free
   */
  synchronized StreamMemory.Piece take(int wanted) throws CrailException {
    if (taken.size() == most) {
      return null;
    }
    StreamMemory.Piece piece = shared.take(wanted);
    taken.add(piece);
    return piece;
  }

  /** Gives a piece back that is not in use, unless it is back already. */
  void release(StreamMemory.Piece piece) {
    synchronized (this) {
      if (!taken.remove(piece)) {
        return;
      }
    }
    shared.release(piece);
  }

  /** Gives a piece back as soon as the operation that uses it has ended. */
  void releaseUsed(StreamMemory.Piece piece) {
    StreamOperation user = piece.user();
    if (user == null) {
      release(piece);
    } else {
      user.whenComplete(() -> release(piece));
    }
  }

  /** Gives all pieces back, each of them when nothing uses it any more. */
  @Override
  public void close() {
    List<StreamMemory.Piece> all;
    synchronized (this) {
      all = List.copyOf(taken);
    }
    all.forEach(this::releaseUsed);
  }
}
