/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.netty.HeldMemory;
import io.crail.storage.StorageServer;
import io.crail.storage.region.Hazard;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** The state that the connections of an event loop share. Used only by the thread of the loop. */
final class DatanodeLoop {
  /** A connection that the loop serves. */
  interface Member {
    /** Checks the deadlines. */
    void sweep(long nowNanos);
  }

  /** With more unsent bytes of answers, a connection serves no request. */
  static final int MOST_PENDING = 1024 * 1024;

  private static final int SMALL_ANSWERS = 4 * 1024;
  private static final int LARGE_ANSWERS = DataNodeOperations.LARGEST_COPIED_READ + 8 * 1024;

  /**
   * As many pieces as one connection fills, each at least half full, until the channel takes no
   * more.
   */
  private static final int MOST_SMALL = 2 * MOST_PENDING / SMALL_ANSWERS + 1;

  private static final int MOST_LARGE = 2 * MOST_PENDING / LARGE_ANSWERS + 1;

  private final Hazard hazard;
  private final HeldMemory held;
  private final List<Member> members = new ArrayList<>();
  // Only the loop adds, so there is no contention; other threads read.
  private final LongAdder reads = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder writes = new LongAdder();
  private final LongAdder writtenBytes = new LongAdder();
  private final AtomicLongArray refusals = new AtomicLongArray(ErrorCode.values().length);
  private final DataAnswers.Spare small = new DataAnswers.Spare(SMALL_ANSWERS, MOST_SMALL);
  private final DataAnswers.Spare large = new DataAnswers.Spare(LARGE_ANSWERS, MOST_LARGE);

  /**
   * Creates the state of an event loop.
   *
   * @param hazard announces the writes of this loop, one after the other
   * @param held counts the memory that its connections hold for their peers
   */
  DatanodeLoop(Hazard hazard, HeldMemory held) {
    this.hazard = hazard;
    this.held = held;
  }

  Hazard hazard() {
    return hazard;
  }

  /** The memory that the connections hold for their peers. */
  HeldMemory held() {
    return held;
  }

  /** Counts a read that is answered with this many bytes. */
  void hasRead(int bytes) {
    reads.increment();
    readBytes.add(bytes);
  }

  /** Counts a write of this many bytes. */
  void hasWritten(int bytes) {
    writes.increment();
    writtenBytes.add(bytes);
  }

  /** Counts a request that is refused. */
  void hasRefused(ErrorCode error) {
    refusals.incrementAndGet(error.number());
  }

  /** Requests that were refused with this error so far. */
  long refusals(ErrorCode error) {
    return refusals.get(error.number());
  }

  /** What was read and written so far. */
  StorageServer.Statistics statistics() {
    return new StorageServer.Statistics(
        held.bytes(), reads.sum(), readBytes.sum(), writes.sum(), writtenBytes.sum());
  }

  /** True when a connection that holds this many bytes for its peer may hold another piece. */
  boolean mayHoldMore(long bytes) {
    return bytes == 0 || bytes + LARGE_ANSWERS <= held.mostForOne();
  }

  void add(Member connection) {
    members.add(connection);
  }

  void remove(Member connection) {
    members.remove(connection);
  }

  /** Memory for a frame of this length, and for frames after it. */
  DataAnswers take(int frameLength) {
    return (frameLength > SMALL_ANSWERS / 2 ? large : small).take();
  }

  /** Takes memory back. Unsent bytes stay until they are sent. */
  void giveBack(DataAnswers answers) {
    (answers.bytes().capacity() == LARGE_ANSWERS ? large : small).giveBack(answers);
  }

  /** Checks the deadlines of all connections. */
  void sweep() {
    long now = System.nanoTime();
    for (int i = members.size() - 1; i >= 0; i--) {
      members.get(i).sweep(now);
    }
  }

  /** Frees the memory, after the loop has ended. */
  void release() {
    small.release();
    large.release();
  }
}
