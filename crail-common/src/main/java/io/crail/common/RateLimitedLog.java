/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * A log that a hostile or broken peer cannot flood. It writes a burst of lines at once, and then
 * one line a second, with the number of lines that were left out. It throws nothing, so that a
 * thread may log what it survives when there is no memory even for that. Thread-safe.
 */
public final class RateLimitedLog {
  private static final long INTERVAL_NANOS = 1_000_000_000L;

  private final Logger logger;
  private final Clock clock;
  private final long burstNanos;
  // The time at which all lines so far are paid for, at one line a second.
  private final AtomicLong paidNanos;
  private final AtomicLong suppressed = new AtomicLong();

  /** Creates a limiter of one line a second over {@code logger}. */
  public RateLimitedLog(Logger logger, Clock clock) {
    this(logger, clock, 1);
  }

  /** Creates a limiter of {@code burst} lines at once, and one line a second in the long run. */
  public RateLimitedLog(Logger logger, Clock clock, int burst) {
    this.logger = logger;
    this.clock = clock;
    this.burstNanos = (burst - 1) * INTERVAL_NANOS;
    this.paidNanos = new AtomicLong(clock.nanoTime());
  }

  /** Logs at WARN, unless there were too many lines recently. */
  public void warn(String message) {
    log(Level.WARN, message);
  }

  /** As {@link #warn(String)}, with what was survived after a colon. */
  public void warn(String message, Throwable survived) {
    String whole = null;
    try {
      whole = message + ": " + survived;
    } catch (RuntimeException | Error e) {
      // No memory for it.
    }
    warn(whole == null ? message : whole);
  }

  /** Logs at INFO, unless there were too many lines recently. */
  public void info(String message) {
    log(Level.INFO, message);
  }

  private void log(Level level, String message) {
    try {
      tryLog(level, message);
    } catch (RuntimeException | Error e) {
      suppressed.incrementAndGet();
    }
  }

  private void tryLog(Level level, String message) {
    long now = clock.nanoTime();
    long paid = paidNanos.get();
    long begin = paid - now < 0 ? now : paid;
    if (begin - now > burstNanos || !paidNanos.compareAndSet(paid, begin + INTERVAL_NANOS)) {
      suppressed.incrementAndGet();
      return;
    }
    long left = suppressed.getAndSet(0);
    String line = Printable.line(message);
    String text = left == 0 ? line : line + " (" + left + " similar lines left out)";
    // The fluent calls are not used, since a host may bring SLF4J 1.7.
    if (level == Level.WARN) {
      logger.warn("{}", text);
    } else {
      logger.info("{}", text);
    }
  }
}
