/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

/** When to try again what has failed: later after each failure in a row. Used by one thread. */
final class ScaleBackOff {
  private static final long LEAST_MILLIS = 5_000;
  private static final long MOST_MILLIS = 300_000;
  private static final int MOST_DOUBLINGS = 16;

  private int failures;
  private long againMillis;

  void failed(long nowMillis) {
    long millis = Math.min(MOST_MILLIS, LEAST_MILLIS << Math.min(failures, MOST_DOUBLINGS));
    failures++;
    againMillis = nowMillis + millis;
  }

  void succeeded() {
    failures = 0;
  }

  /** The failures since the last success. */
  int failures() {
    return failures;
  }

  /** Whether it is not yet time for the next attempt. */
  boolean waits(long nowMillis) {
    return failures > 0 && nowMillis < againMillis;
  }
}
