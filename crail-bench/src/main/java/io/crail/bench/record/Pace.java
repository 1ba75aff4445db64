/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * The start times of the operations of one worker: a fixed rate, whatever earlier operations take.
 * The workers take turns, so that together they keep the rate.
 *
 * @param perSecond operations a second of all workers
 * @param worker the index of this worker; the first is 0
 * @param workers the number of workers
 * @param operations operations of this worker
 */
public record Pace(double perSecond, int worker, int workers, long operations) {
  private static final double NANOS_PER_SECOND = 1e9;

  /**
   * A run may take this long in addition to twice its planned time, so that a short run is not
   * given up early.
   */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** The same rate for another number of operations. */
  Pace withOperations(long newOperations) {
    return new Pace(perSecond, worker, workers, newOperations);
  }

  /** The start time of an operation, counted from the beginning. */
  long startNanos(long index) {
    return (long) ((index * (double) workers + worker) / perSecond * NANOS_PER_SECOND);
  }

  /** The duration of all operations when the rate is kept. */
  public long plannedNanos() {
    return plannedNanos(perSecond, operations * (double) workers);
  }

  /** The duration of operations at a rate. */
  public static long plannedNanos(double perSecond, double operations) {
    return (long) (operations / perSecond * NANOS_PER_SECOND);
  }

  /** The longest allowed duration. Operations that have not ended then are given up. */
  long limitNanos() {
    return 2 * plannedNanos() + PATIENCE_NANOS;
  }
}
