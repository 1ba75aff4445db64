/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import org.slf4j.Logger;

/**
 * Logs when writes of a store begin to wait for space that is to come, and when the last of those
 * waits ends: two lines, however many wait. Thread-safe.
 */
public final class SpaceWaits {
  /** Lines at once, so that the end of a wait is not left out. */
  private static final int LOG_BURST = 8;

  private final RateLimitedLog log;
  private final Clock clock;
  private final long patienceNanos;
  private int waiting;
  private long sinceNanos;
  private boolean came;

  /**
   * Creates it; nothing waits.
   *
   * @param patienceNanos how long a write waits at most
   */
  public SpaceWaits(Logger log, Clock clock, long patienceNanos) {
    this.log = new RateLimitedLog(log, clock, LOG_BURST);
    this.clock = clock;
    this.patienceNanos = patienceNanos;
  }

  long patienceNanos() {
    return patienceNanos;
  }

  /**
   * A stream begins to wait.
   *
   * @param shortage what the namenode says of the space to come
   */
  public synchronized void begun(String shortage) {
    if (waiting++ == 0) {
      sinceNanos = clock.nanoTime();
      came = false;
      log.warn("waits for space, up to " + patienceNanos / 1_000_000 + " ms: " + shortage);
    }
  }

  /**
   * A stream ends its wait.
   *
   * @param hasCome whether it has got space
   */
  public synchronized void ended(boolean hasCome) {
    came |= hasCome;
    if (--waiting == 0) {
      long waited = (clock.nanoTime() - sinceNanos) / 1_000_000;
      log.warn((came ? "space has come after " : "no space has come in ") + waited + " ms");
    }
  }
}
