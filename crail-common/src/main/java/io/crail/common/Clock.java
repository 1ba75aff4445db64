/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

/**
 * Time as code that decides sees it: passed in, never read from the system, so that a simulation
 * can own it. Implementations are thread-safe.
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

  /** Monotonic nanoseconds from an arbitrary origin; only differences mean something. */
  long nanoTime();

  /** Wall-clock milliseconds since 1970, for people; never for a lease or a deadline. */
  long currentTimeMillis();
}
