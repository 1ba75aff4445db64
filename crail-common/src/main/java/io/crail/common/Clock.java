/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

/**
 * The time for code that makes decisions. The clock is passed in, so a simulation can control it.
 * Implementations are thread-safe.
 */
public interface Clock {
  /** The system's clock. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public long currentTimeMillis() {
          return System.currentTimeMillis();
        }
      };

  /** Monotonic nanoseconds from an arbitrary origin. Only differences are meaningful. */
  long nanoTime();

  /** Wall-clock milliseconds since 1970, for display. Never used for a lease or a deadline. */
  long currentTimeMillis();
}
