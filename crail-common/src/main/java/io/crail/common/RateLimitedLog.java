/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * A log line that a hostile or broken peer cannot turn into a flood: at most one in an interval,
 * with the number of those that were left out. Thread-safe.
 */
public final class RateLimitedLog {
  private static final long INTERVAL_NANOS = 1_000_000_000L;

  private final Logger logger;
  private final Clock clock;
  private final AtomicLong nextNanos;
  private final AtomicLong suppressed = new AtomicLong();

  /** Creates a limiter of one line a second over {@code logger}. */
  public RateLimitedLog(Logger logger, Clock clock) {
    this.logger = logger;
    this.clock = clock;
    this.nextNanos = new AtomicLong(clock.nanoTime());
  }

  /** Logs at WARN, unless a line was logged within the last second. */
  public void warn(String message) {
    long now = clock.nanoTime();
    long next = nextNanos.get();
    if (now - next < 0 || !nextNanos.compareAndSet(next, now + INTERVAL_NANOS)) {
      suppressed.incrementAndGet();
      return;
    }
    long left = suppressed.getAndSet(0);
    if (left == 0) {
      logger.warn("{}", message);
    } else {
      logger.warn("{} ({} similar lines left out)", message, left);
    }
  }
}
