/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.Threads;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that makes a store renew its write leases, and give back leases and space that it does
 * not use. It starts with the first of these, and sleeps while there are none.
 */
final class LeaseTimer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseTimer.class);
  private static final long MOST_SLEEP_NANOS = 1_000_000_000L;
  private static final long LEAST_SLEEP_NANOS = 1_000_000L;
  private static final long SLEEP_AFTER_FAILURE_NANOS = 100_000_000L;

  private final WriteLeases leases;
  private final Clock clock;
  private final RateLimitedLog log;
  private volatile Thread thread;
  private volatile boolean asleep;
  private volatile boolean closed;

  LeaseTimer(WriteLeases leases, Clock clock) {
    this.leases = leases;
    this.clock = clock;
    this.log = new RateLimitedLog(LOG, clock);
  }

  /** There is something to do. */
  void wake() {
    Thread present = thread;
    if (present == null) {
      start();
    } else if (asleep) {
      LockSupport.unpark(present);
    }
  }

  private synchronized void start() {
    if (thread == null && !closed) {
      Thread made = Threads.daemon("crail-client-leases", this::run);
      made.start();
      thread = made;
    }
  }

  private void run() {
    while (!closed) {
      asleep = true;
      if (leases.areHeld()) {
        asleep = false;
        long now = clock.nanoTime();
        long nanos = SLEEP_AFTER_FAILURE_NANOS;
        try {
          leases.tick(now);
          nanos = Math.min(MOST_SLEEP_NANOS, leases.tickNanos(now));
        } catch (RuntimeException | Error e) {
          // Without this thread all leases of the store would run out. Each renewal stands alone.
          log.warn("cannot renew write leases; trying again", e);
        }
        LockSupport.parkNanos(this, Math.max(LEAST_SLEEP_NANOS, nanos));
      } else if (!closed) {
        LockSupport.park(this);
      }
    }
  }

  @Override
  public void close() {
    Thread running;
    synchronized (this) {
      closed = true;
      running = thread;
    }
    if (running == null) {
      return;
    }
    LockSupport.unpark(running);
    boolean interrupted = false;
    while (running.isAlive()) {
      try {
        running.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
