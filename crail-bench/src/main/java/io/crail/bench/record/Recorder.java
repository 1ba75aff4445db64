/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * Counts operations, bytes and latencies of one experiment, and decides when operations start. Used
 * by the measuring thread only, except {@link #progress()} and {@link #stop()}, which any thread
 * may call.
 *
 * <p>Without a pace, an operation starts when its workload issues it. With a pace, each operation
 * has a start time, and its latency counts from that time. When operations start late because
 * earlier ones took long, their delay is part of the figures. Independent users would see the same
 * delay.
 */
public final class Recorder {
  private static final long HIGHEST_NANOS = 3_600_000_000_000L;
  private static final int SIGNIFICANT_DIGITS = 3;
  private static final VarHandle OPERATIONS;

  static {
    try {
      OPERATIONS = MethodHandles.lookup().findVarHandle(Recorder.class, "operations", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final LongSupplier clock;
  private final Ticker ticker;
  private final Runnable gate;
  private Pace pace;
  private final Histogram latencies = new Histogram(HIGHEST_NANOS, SIGNIFICANT_DIGITS);
  private volatile boolean stopped;
  private boolean atGate = true;
  private boolean overdue;
  private long operations;
  private long bytes;
  private long beginNanos;
  private long endNanos;

  /** Creates a recorder; {@code clock} gives nanoseconds. */
  public Recorder(LongSupplier clock) {
    this.clock = clock;
    this.ticker = null;
    this.gate = () -> {};
    this.pace = null;
  }

  /**
   * Creates a recorder that decides when operations start.
   *
   * @param gate called before the first experiment begins; it may wait
   * @param pace the start times; null when the workload decides
   */
  public Recorder(Ticker ticker, Runnable gate, Pace pace) {
    this.clock = ticker;
    this.ticker = ticker;
    this.gate = gate;
    this.pace = pace;
  }

  /** The time in nanoseconds. */
  public long now() {
    return clock.getAsLong();
  }

  /**
   * As {@link #begin()}, for an experiment with another number of operations than {@code -k} says.
   * With a rate, this number gives the allowed duration.
   */
  public long begin(long newOperations) {
    if (isPaced()) {
      pace = pace.withOperations(newOperations);
    }
    return begin();
  }

  /**
   * Resets all counters and starts the experiment. Returns the time at which an operation may
   * start.
   */
  public long begin() {
    if (atGate) {
      gate.run();
      atGate = false;
    }
    latencies.reset();
    OPERATIONS.setOpaque(this, 0L);
    bytes = 0;
    overdue = false;
    beginNanos = clock.getAsLong();
    endNanos = beginNanos;
    return isPaced() ? awaitTurn() : beginNanos;
  }

  /**
   * Counts an operation, for a workload that runs one at a time. With a pace, this waits until the
   * next operation may start.
   */
  public void operation(long issuedNanos, long completedNanos, long movedBytes) {
    if (isPaced()) {
      completed(startNanos(operations), completedNanos, movedBytes);
      awaitTurn();
    } else {
      completed(issuedNanos, completedNanos, movedBytes);
    }
  }

  /** Counts an operation with its actual or planned start time, and its completion time. */
  void completed(long startNanos, long completedNanos, long movedBytes) {
    latencies.recordValue(Math.min(Math.max(0, completedNanos - startNanos), HIGHEST_NANOS));
    bytes += movedBytes;
    // For the processor this is a plain store. The progress bar reads it.
    OPERATIONS.setOpaque(this, operations + 1);
    if (stopped) {
      throw RunStopped.quietly();
    }
    // After the last operation there is nothing to give up.
    if (isPaced()
        && operations != pace.operations()
        && completedNanos - beginNanos > pace.limitNanos()) {
      overdue = true;
      endNanos = completedNanos;
      throw RunStopped.quietly();
    }
  }

  /** Whether operations have start times. */
  boolean isPaced() {
    return pace != null;
  }

  /** The start time of an operation. */
  long startNanos(long index) {
    // After the last operation comes the end, so that the figures show exactly a rate that was
    // kept.
    return beginNanos + (index == pace.operations() ? pace.plannedNanos() : pace.startNanos(index));
  }

  /** Waits until the next operation may start. Returns the time. */
  private long awaitTurn() {
    await(startNanos(operations));
    return clock.getAsLong();
  }

  /** Waits until the time is {@code nanos}. */
  void await(long nanos) {
    ticker.await(nanos);
    if (stopped) {
      throw RunStopped.quietly();
    }
  }

  /** Ends the experiment. */
  public void end() {
    endNanos = clock.getAsLong();
  }

  /** Ends the workload when it reports its next operation. */
  public void stop() {
    stopped = true;
  }

  /** Whether operations were given up because the pace could not be kept. */
  public boolean isOverdue() {
    return overdue;
  }

  /** The operations so far. */
  public long progress() {
    return (long) OPERATIONS.getOpaque(this);
  }

  /** The start time of the experiment. */
  public long beginNanos() {
    return beginNanos;
  }

  /** The end time of the experiment. */
  public long endNanos() {
    return endNanos;
  }

  /** The figures between begin and end. */
  public Figures figures() {
    // More operations than planned were done, and still not all. The exact number of missing ones
    // is unknown.
    long givenUp = overdue ? Math.max(1, pace.operations() - operations) : 0;
    return new Figures(operations, givenUp, bytes, endNanos - beginNanos, latencies.copy());
  }
}
