/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * When the operations of one of several workers are to start: at a fixed rate, whatever those
 * before them take. The workers take turns, so that together they have the rate.
 *
 * @param perSecond operations a second of all workers
 * @param worker which one this is; the first is 0
 * @param workers how many there are
 * @param operations of this worker
 */
public record Pace(double perSecond, int worker, int workers, long operations) {
  private static final double NANOS_PER_SECOND = 1e9;

  /** What a run may take beside twice its time, which is nothing where that is short. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** The same rate for another number of operations. */
  Pace withOperations(long newOperations) {
    return new Pace(perSecond, worker, workers, newOperations);
  }

  /** When an operation is to start, counted from the beginning. */
  long startNanos(long index) {
    return (long) ((index * (double) workers + worker) / perSecond * NANOS_PER_SECOND);
  }

  /** How long all operations take when the rate is kept. */
  public long plannedNanos() {
    return plannedNanos(perSecond, operations * (double) workers);
  }

  /** How long operations take at a rate. */
  public static long plannedNanos(double perSecond, double operations) {
    return (long) (operations / perSecond * NANOS_PER_SECOND);
  }

  /** How long they may take; what is not done then is given up. */
  long limitNanos() {
    return 2 * plannedNanos() + PATIENCE_NANOS;
  }
}
