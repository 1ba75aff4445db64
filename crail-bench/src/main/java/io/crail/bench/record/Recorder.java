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
 * <p>Without a pace an operation starts when its workload issues it. With one each has a time to
 * start, and its latency counts from then: when operations are late because others took long, their
 * waiting is in the figures, as it would be in those of users who do not wait for each other.
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
   * @param gate called before the first experiment begins; may wait
   * @param pace when they start; null for as soon as the workload issues them
   */
  public Recorder(Ticker ticker, Runnable gate, Pace pace) {
    this.clock = ticker;
    this.ticker = ticker;
    this.gate = gate;
    this.pace = pace;
  }

  /** The time. */
  public long now() {
    return clock.getAsLong();
  }

  /**
   * As {@link #begin()}, for an experiment with another number of operations than {@code -k} says:
   * it tells how long they may take at a rate.
   */
  public long begin(long newOperations) {
    if (isPaced()) {
      pace = pace.withOperations(newOperations);
    }
    return begin();
  }

  /** Forgets everything and starts the experiment; gives the time when an operation may start. */
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
   * Counts an operation that was issued and completed at these times, when there is one at a time:
   * with a pace it returns when the next may start.
   */
  public void operation(long issuedNanos, long completedNanos, long movedBytes) {
    if (isPaced()) {
      completed(startNanos(operations), completedNanos, movedBytes);
      awaitTurn();
    } else {
      completed(issuedNanos, completedNanos, movedBytes);
    }
  }

  /** Counts an operation that started, or was to start, and completed at these times. */
  void completed(long startNanos, long completedNanos, long movedBytes) {
    latencies.recordValue(Math.min(Math.max(0, completedNanos - startNanos), HIGHEST_NANOS));
    bytes += movedBytes;
    // A plain store as far as the processor is concerned; the progress bar looks at it.
    OPERATIONS.setOpaque(this, operations + 1);
    if (stopped) {
      throw RunStopped.quietly();
    }
    // Behind the last one there is nothing to give up.
    if (isPaced()
        && operations != pace.operations()
        && completedNanos - beginNanos > pace.limitNanos()) {
      overdue = true;
      endNanos = completedNanos;
      throw RunStopped.quietly();
    }
  }

  /** Whether operations have a time to start. */
  boolean isPaced() {
    return pace != null;
  }

  /** When an operation is to start. */
  long startNanos(long index) {
    // Behind the last one is the end, so that a rate that was kept is the rate in the figures.
    return beginNanos + (index == pace.operations() ? pace.plannedNanos() : pace.startNanos(index));
  }

  /** Waits until the next operation is to start; gives the time. */
  private long awaitTurn() {
    await(startNanos(operations));
    return clock.getAsLong();
  }

  /** Waits until it is {@code nanos}. */
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

  /** Ends the workload with the next operation that it tells of. */
  public void stop() {
    stopped = true;
  }

  /** Whether operations were given up because the pace could not be kept. */
  public boolean isOverdue() {
    return overdue;
  }

  /** Operations so far. */
  public long progress() {
    return (long) OPERATIONS.getOpaque(this);
  }

  /** When the experiment began. */
  public long beginNanos() {
    return beginNanos;
  }

  /** When it ended. */
  public long endNanos() {
    return endNanos;
  }

  /** What was measured between begin and end. */
  public Figures figures() {
    // More than there were to be, and still not all: how many more is not known.
    long givenUp = overdue ? Math.max(1, pace.operations() - operations) : 0;
    return new Figures(operations, givenUp, bytes, endNanos - beginNanos, latencies.copy());
  }
}
