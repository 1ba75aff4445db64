/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The operations of one stream, added up at its close. The thread that uses the stream counts
 * operations; each thread that issues pieces counts them.
 */
public final class StreamCounters {
  private final AtomicLong localPieces = new AtomicLong();
  private final AtomicLong remotePieces = new AtomicLong();
  private final AtomicLong unlocated = new AtomicLong();
  private long operations;
  private long atOnce;
  private long bytes;

  /**
   * Counts an operation.
   *
   * @param endedAtOnce whether it had ended when its issue returned, as copies within a host do
   */
  public void operation(int length, boolean endedAtOnce) {
    operations++;
    bytes += length;
    if (endedAtOnce) {
      atOnce++;
    }
  }

  /** Counts the part of an operation that goes to one extent. */
  public void piece(boolean local) {
    (local ? localPieces : remotePieces).getAndIncrement();
  }

  /** Counts a piece that has to wait for its location. */
  public void unlocated() {
    unlocated.getAndIncrement();
  }

  /** Adds the counts of another stream, which has ended. */
  public void add(StreamCounters other) {
    operations += other.operations;
    atOnce += other.atOnce;
    bytes += other.bytes;
    localPieces.addAndGet(other.localPieces());
    remotePieces.addAndGet(other.remotePieces());
    unlocated.addAndGet(other.unlocated.get());
  }

  long operations() {
    return operations;
  }

  long atOnce() {
    return atOnce;
  }

  long bytes() {
    return bytes;
  }

  long localPieces() {
    return localPieces.get();
  }

  long remotePieces() {
    return remotePieces.get();
  }

  /** Pieces whose location was known when they were to begin. */
  long cachedPieces() {
    return Math.max(0, localPieces() + remotePieces() - unlocated.get());
  }
}
