/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** A clock of nanoseconds that can wait for a time. */
public interface Ticker extends LongSupplier {
  /** The clock of the machine. */
  Ticker SYSTEM =
      new Ticker() {
        /**
         * A sleeping thread wakes up tens of microseconds too late. So it wakes up earlier, and
         * spins.
         */
        private static final long SPIN_NANOS = 100_000;

        @Override
        public long getAsLong() {
          return System.nanoTime();
        }

        @Override
        public void await(long nanos) {
          for (long left = nanos - System.nanoTime();
              left > 0 && !Thread.currentThread().isInterrupted();
              left = nanos - System.nanoTime()) {
            if (left > SPIN_NANOS) {
              LockSupport.parkNanos(this, left - SPIN_NANOS);
            } else {
              Thread.onSpinWait();
            }
          }
        }
      };

  /**
   * Waits until the time is {@code nanos}, or the thread is interrupted. The thread stays
   * interrupted.
   */
  void await(long nanos);
}
