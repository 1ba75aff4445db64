/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

/** The time that attempts take, and the pauses between them. Thread-safe. */
interface FetchTime {
  /** A pause. */
  long PAUSE_MILLIS = 200;

  /** The system's. */
  FetchTime SYSTEM =
      new FetchTime() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public void pause() throws InterruptedException {
          Thread.sleep(PAUSE_MILLIS);
        }
      };

  /** Nanoseconds from any origin. */
  long nanoTime();

  /** Waits before another attempt. */
  void pause() throws InterruptedException;
}
