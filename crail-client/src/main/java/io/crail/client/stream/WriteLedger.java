/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The writes of an output stream, which end in any order: how many are in flight, how far the file
 * is written without a gap and visible, and what has failed. All changes except those of the number
 * in flight need the monitor of the stream.
 */
final class WriteLedger {
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicReference<Runnable> whenIdle = new AtomicReference<>();
  private volatile CrailException failure;

  /** Why the store refuses further writes; set under the monitor, read without. */
  private volatile CrailException refusal;

  private long end;
  private long visible;
  private boolean mayArrive;

  /** Ranges that are written beyond a gap: ends by beginnings; null while there are none. */
  private TreeMap<Long, Long> apart;

  /** Starts with a file that is written up to a position. */
  WriteLedger(long end) {
    this.end = end;
    this.visible = end;
  }

  /** A write begins. */
  void begun() {
    inFlight.incrementAndGet();
  }

  /** A write has ended, and its outcome was noted. */
  void over() {
    if (inFlight.decrementAndGet() == 0 && whenIdle.get() != null) {
      runWhenIdle();
    }
  }

  boolean isIdle() {
    return inFlight.get() == 0;
  }

  /** Runs a callback once nothing is in flight, after the callbacks of earlier calls. */
  void whenIdle(Runnable then) {
    whenIdle.accumulateAndGet(
        then,
        (before, added) ->
            before == null
                ? added
                : () -> {
                  before.run();
                  added.run();
                });
    if (isIdle()) {
      runWhenIdle();
    }
  }

  private void runWhenIdle() {
    Runnable callback = whenIdle.getAndSet(null);
    if (callback != null) {
      callback.run();
    }
  }

  /** Refuses further writes, unless they are refused already. */
  void refuse(CrailException why) {
    if (refusal == null) {
      refusal = why;
    }
  }

  /** Why further writes are refused, or null. By any thread. */
  CrailException refusal() {
    return refusal;
  }

  /** Why some issued bytes are not written; null when all are written or in flight. */
  CrailException loss() {
    CrailException refused = refusal;
    return refused == null ? failure : refused;
  }

  /** Notes that a write has failed. */
  void failed(PartedOperation write, CrailException cause) {
    if (failure == null) {
      failure = cause;
    }
    mayArrive |= write.transferFailed();
  }

  /** Notes that a write has ended well; true when the file is written further than before. */
  boolean written(PartedOperation write) {
    if (write.start() != end) {
      if (apart == null) {
        apart = new TreeMap<>();
      }
      apart.put(write.start(), write.end());
      return false;
    }
    end = write.end();
    while (apart != null && !apart.isEmpty() && apart.firstKey() == end) {
      end = apart.pollFirstEntry().getValue();
    }
    return true;
  }

  /** Up to where the file is written without a gap. */
  long end() {
    return end;
  }

  /** The file is written up to a position, whatever was noted before. */
  void end(long newEnd) {
    end = newEnd;
  }

  /** Up to where other clients see the file, as the namenode knows. */
  long visible() {
    return visible;
  }

  /** Other clients see the file up to a position. */
  void visibleTo(long position) {
    visible = Math.max(visible, position);
  }

  /** Whether bytes of a write that has failed may still arrive. */
  boolean mayArrive() {
    return mayArrive;
  }

  /** The first failure, or null. By any thread. */
  CrailException failure() {
    return failure;
  }
}
