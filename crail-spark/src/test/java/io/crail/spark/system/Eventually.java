/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for a condition, with a deadline. */
public final class Eventually {
  /** Far more than a busy machine needs. */
  static final Duration PATIENCE = Duration.ofSeconds(240);

  private static final long POLL_MILLIS = 20;

  private Eventually() {}

  /** Waits until {@code condition} is true; fails with {@code what} when it is not in time. */
  public static void holds(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within " + PATIENCE.toSeconds() + " s: " + what);
      }
      Thread.sleep(POLL_MILLIS);
    }
  }
}
