/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import io.crail.common.Clock;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The networks that a loop's driver polls: the loop's own, and the attached ones. Also decides how
 * the driver sleeps. Used only by the driver, except for {@link #isParked}.
 */
final class LoopNetworks {
  private static final Logger LOG = LoggerFactory.getLogger(LoopNetworks.class);
  private static final long STALE_NANOS = 2_000_000;

  /**
   * How often the driver polls the loop's own network while another network keeps it from sleeping.
   */
  private static final long OWN_POLL_NANOS = 20_000;

  /** The longest sleep when descriptors of pollers cannot be watched. */
  private static final long BLIND_WAIT_NANOS = 100_000;

  /** Polls between two readings of the clock. */
  private static final int SPINS = 32;

  private final String loopName;
  private final Clock clock;
  private final OwnNetwork own;
  private final List<Poller> pollers = new ArrayList<>();
  private volatile boolean parked;
  private long lastPollNanos;
  private long lastOwnPollNanos;
  private boolean blind;

  LoopNetworks(String loopName, Clock clock, OwnNetwork own) {
    this.loopName = loopName;
    this.clock = clock;
    this.own = own;
    this.lastPollNanos = clock.nanoTime();
  }

  /** True while the driver sleeps, or is about to. For any thread. */
  boolean isParked() {
    return parked;
  }

  void attach(Poller poller) {
    pollers.add(poller);
  }

  /** The attached poller of a class, or null. */
  <T extends Poller> T attached(Class<T> type) {
    for (Poller poller : pollers) {
      if (type.isInstance(poller)) {
        return type.cast(poller);
      }
    }
    return null;
  }

  /** Notes that readable descriptors of pollers may not end the driver's sleep. */
  void cannotWatch() {
    blind = true;
  }

  void destroy() {
    pollers.forEach(Poller::destroy);
    own.destroy();
  }

  /** True when no thread has polled for a while, so that a connection may have ended unnoticed. */
  boolean isStale(long nowNanos) {
    return nowNanos - lastPollNanos > STALE_NANOS;
  }

  /**
   * Polls the networks, and sleeps when they have nothing.
   *
   * @param waitNanos the longest sleep; negative for none
   * @param awaited ends the sleep when it is complete, or null
   * @param startNanos the time
   */
  void pollOrWait(long waitNanos, Completion awaited, long startNanos) {
    // The time before the poll, since the poll may miss what comes after that time.
    lastPollNanos = startNanos;
    if (!pollers.isEmpty()) {
      pollAllOrWait(waitNanos, awaited, startNanos);
      return;
    }
    if (waitNanos < 0 || (awaited != null && awaited.isComplete())) {
      own.poll(-1);
      return;
    }
    parked = true;
    try {
      own.poll(own.mayWait() ? waitNanos : -1);
    } finally {
      parked = false;
    }
  }

  private void pollAllOrWait(long waitNanos, Completion awaited, long startNanos) {
    boolean ask = waitNanos < 0 || (awaited != null && awaited.isComplete());
    if (pollPollers() || ask || spin(waitNanos, startNanos)) {
      if (own.isUsed()) {
        pollOwnNowAndThen();
      }
      return;
    }
    parked = true;
    try {
      long longest = blind ? Math.min(waitNanos, BLIND_WAIT_NANOS) : waitNanos;
      own.poll(armPollers() && own.mayWait() ? longest : -1);
    } finally {
      parked = false;
    }
    pollPollers();
  }

  private void pollOwnNowAndThen() {
    long now = clock.nanoTime();
    if (now - lastOwnPollNanos >= OWN_POLL_NANOS) {
      lastOwnPollNanos = now;
      own.poll(-1);
    }
  }

  private boolean pollPollers() {
    boolean progress = false;
    for (int i = 0; i < pollers.size(); i++) {
      try {
        progress |= pollers.get(i).poll();
      } catch (RuntimeException | Error e) {
        LOG.error("a poll failed in loop {}", loopName, e);
      }
    }
    return progress;
  }

  /**
   * Polls for a while, but not longer than the wait, since deadlines are checked after it.
   *
   * @param startNanos the time
   * @return false when it is time to sleep
   */
  private boolean spin(long waitNanos, long startNanos) {
    long spinNanos = 0;
    for (int i = 0; i < pollers.size(); i++) {
      if (pollers.get(i).isBusy()) {
        spinNanos = Math.max(spinNanos, pollers.get(i).spinNanos());
      }
    }
    if (spinNanos == 0) {
      return false;
    }
    // A driver that never sleeps looks at the loop's own network and the deadlines in between.
    boolean neverSleeps = spinNanos > waitNanos;
    long limitNanos = neverSleeps ? Math.min(OWN_POLL_NANOS, waitNanos) : spinNanos;
    do {
      for (int i = 0; i < SPINS; i++) {
        // No pause in between, since a poll is as short as a pause.
        if (pollPollers()) {
          return true;
        }
      }
      // Without this the driver would keep other threads from the processor until the end of its
      // time slice.
      Thread.yield();
    } while (own.mayWait() && clock.nanoTime() - startNanos < limitNanos);
    return neverSleeps;
  }

  private boolean armPollers() {
    boolean armed = true;
    for (int i = 0; i < pollers.size(); i++) {
      armed &= pollers.get(i).arm();
    }
    return armed;
  }
}
