/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** A clock of nanoseconds that can be waited for. */
public interface Ticker extends LongSupplier {
  /** The machine's. */
  Ticker SYSTEM =
      new Ticker() {
        /**
         * A thread that sleeps wakes up too late by tens of microseconds; so it gets up earlier.
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

  /** Waits until it is {@code nanos}, or the thread is interrupted, which it stays. */
  void await(long nanos);
}
