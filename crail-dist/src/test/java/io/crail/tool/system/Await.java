/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for a condition, with a deadline. */
final class Await {
  private static final long POLL_MILLIS = 20;

  private Await() {}

  /** Waits until {@code condition} is true; fails with {@code what} when it is not in time. */
  static void until(String what, Duration patience, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within " + patience.toSeconds() + " s: " + what);
      }
      Thread.sleep(POLL_MILLIS);
    }
  }
}
