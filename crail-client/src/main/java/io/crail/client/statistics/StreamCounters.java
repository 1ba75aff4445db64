/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The operations of one stream, added up now and then and at its close. The thread that uses the
 * stream counts operations, and the pieces that it issues. The loop may issue pieces at the same
 * time.
 */
public final class StreamCounters {
  private final AtomicLong localInLoop = new AtomicLong();
  private final AtomicLong remoteInLoop = new AtomicLong();
  private final AtomicLong unlocated = new AtomicLong();

  // For the thread that uses the stream.
  private long operations;
  private long atOnce;
  private long bytes;
  private long local;
  private long remote;

  /** Where the last pieces are counted, since nearly all pieces of a stream go one way. */
  private LongAdder way;

  private long wayBytes;

  // Pieces that have been added up.
  private long takenLocal;
  private long takenRemote;
  private long takenCached;

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

  /**
   * Counts the part of an operation that goes to one extent. In the thread that uses the stream.
   *
   * @param isLocal whether the bytes are copied within this host
   * @param taken the bytes of its way
   */
  public void piece(boolean isLocal, LongAdder taken, int length) {
    if (isLocal) {
      local++;
    } else {
      remote++;
    }
    if (taken != way) {
      settle();
      way = taken;
    }
    wayBytes += length;
  }

  /** As {@link #piece}, in the loop. */
  public void pieceInLoop(boolean isLocal, LongAdder taken, int length) {
    (isLocal ? localInLoop : remoteInLoop).getAndIncrement();
    taken.add(length);
  }

  /** Begins anew with operations, whose counts have been added up. */
  void operationsTaken() {
    operations = 0;
    atOnce = 0;
    bytes = 0;
  }

  /** Adds the bytes to those of their way. */
  void settle() {
    if (way != null) {
      way.add(wayBytes);
      wayBytes = 0;
    }
  }

  /** Counts a piece that has to wait for its location. */
  public void unlocated() {
    unlocated.getAndIncrement();
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

  private long localPieces() {
    return local + localInLoop.get();
  }

  private long remotePieces() {
    return remote + remoteInLoop.get();
  }

  /** Pieces within this host since this was called last. */
  long takeLocalPieces() {
    long fresh = localPieces() - takenLocal;
    takenLocal += fresh;
    return fresh;
  }

  /** Other pieces since this was called last. */
  long takeRemotePieces() {
    long fresh = remotePieces() - takenRemote;
    takenRemote += fresh;
    return fresh;
  }

  /**
   * Pieces whose location was known when they were to begin, since this was called last. Those that
   * wait for their location and are not issued yet make it less, never more.
   */
  long takeCachedPieces() {
    long cached = localPieces() + remotePieces() - unlocated.get();
    long fresh = Math.max(0, cached - takenCached);
    takenCached += fresh;
    return fresh;
  }
}
