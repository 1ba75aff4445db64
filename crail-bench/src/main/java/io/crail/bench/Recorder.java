/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * Counts operations, bytes and latencies of one experiment. Used by the measuring thread only,
 * except {@link #progress()}, which any thread may ask.
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
  private final Histogram latencies = new Histogram(HIGHEST_NANOS, SIGNIFICANT_DIGITS);
  private long operations;
  private long bytes;
  private long beginNanos;
  private long endNanos;

  /** Creates a recorder; {@code clock} gives nanoseconds. */
  public Recorder(LongSupplier clock) {
    this.clock = clock;
  }

  /** The time. */
  public long now() {
    return clock.getAsLong();
  }

  /** Forgets everything and starts the experiment; gives the time. */
  public long begin() {
    latencies.reset();
    OPERATIONS.setOpaque(this, 0L);
    bytes = 0;
    beginNanos = clock.getAsLong();
    return beginNanos;
  }

  /** Counts an operation that was issued and completed at these times. */
  public void operation(long issuedNanos, long completedNanos, long movedBytes) {
    latencies.recordValue(Math.min(Math.max(0, completedNanos - issuedNanos), HIGHEST_NANOS));
    bytes += movedBytes;
    // A plain store as far as the processor is concerned; the progress bar looks at it.
    OPERATIONS.setOpaque(this, operations + 1);
  }

  /** Ends the experiment. */
  public void end() {
    endNanos = clock.getAsLong();
  }

  /** Operations so far. */
  long progress() {
    return (long) OPERATIONS.getOpaque(this);
  }

  /** What was measured between begin and end. */
  Figures figures() {
    return new Figures(operations, bytes, endNanos - beginNanos, latencies.copy());
  }
}
