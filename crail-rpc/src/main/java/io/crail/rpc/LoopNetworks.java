/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The networks that a loop's driver asks, and how it sleeps: the loop's own, and those that were
 * attached. Used only by the driver, but for {@link #isParked}.
 */
final class LoopNetworks {
  private static final Logger LOG = LoggerFactory.getLogger(LoopNetworks.class);
  private static final long STALE_NANOS = 2_000_000;

  /** How often the loop's own network is asked while another keeps the driver from sleeping. */
  private static final long OWN_POLL_NANOS = 20_000;

  /** The longest sleep beside pollers whose descriptors cannot be watched. */
  private static final long BLIND_WAIT_NANOS = 100_000;

  /** Questions between two looks at the clock. */
  private static final int SPINS = 32;

  private final ClientLoop loop;
  private final List<Poller> pollers = new ArrayList<>();
  private volatile boolean parked;
  private long lastPollNanos;
  private long lastOwnPollNanos;
  private boolean blind;

  LoopNetworks(ClientLoop loop, long nowNanos) {
    this.loop = loop;
    this.lastPollNanos = nowNanos;
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

  /** Descriptors of pollers may become readable without an end of the driver's sleep. */
  void cannotWatch() {
    blind = true;
  }

  void destroyPollers() {
    pollers.forEach(Poller::destroy);
  }

  /** True when nobody has asked for a while, so that a connection may have ended unnoticed. */
  boolean isStale(long nowNanos) {
    return nowNanos - lastPollNanos > STALE_NANOS;
  }

  /**
   * Asks the networks, and sleeps when they have nothing.
   *
   * @param waitNanos the longest sleep; negative for none
   * @param awaited ends the sleep when it is complete, or null
   * @param startNanos the time
   */
  void pollOrWait(long waitNanos, Completion awaited, long startNanos) {
    // What came after this may not have been seen.
    lastPollNanos = startNanos;
    if (!pollers.isEmpty()) {
      pollAllOrWait(waitNanos, awaited, startNanos);
      return;
    }
    if (waitNanos < 0 || (awaited != null && awaited.isComplete())) {
      loop.poll(-1);
      return;
    }
    parked = true;
    try {
      loop.poll(loop.mayWait() ? waitNanos : -1);
    } finally {
      parked = false;
    }
  }

  private void pollAllOrWait(long waitNanos, Completion awaited, long startNanos) {
    boolean ask = waitNanos < 0 || (awaited != null && awaited.isComplete());
    if (pollPollers() || ask || spin(waitNanos, startNanos)) {
      if (loop.isUsed()) {
        pollOwnNowAndThen();
      }
      return;
    }
    parked = true;
    try {
      long longest = blind ? Math.min(waitNanos, BLIND_WAIT_NANOS) : waitNanos;
      loop.poll(armPollers() && loop.mayWait() ? longest : -1);
    } finally {
      parked = false;
    }
    pollPollers();
  }

  private void pollOwnNowAndThen() {
    long now = loop.clock().nanoTime();
    if (now - lastOwnPollNanos >= OWN_POLL_NANOS) {
      lastOwnPollNanos = now;
      loop.poll(-1);
    }
  }

  private boolean pollPollers() {
    boolean progress = false;
    for (int i = 0; i < pollers.size(); i++) {
      try {
        progress |= pollers.get(i).poll();
      } catch (RuntimeException | AssertionError e) {
        LOG.error("a poll failed in loop {}", loop.name(), e);
      }
    }
    return progress;
  }

  /**
   * Goes on asking for a while, but not beyond the wait, at whose end deadlines are looked at.
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
    // Who never sleeps looks at the loop's own network and at the deadlines in between.
    boolean neverSleeps = spinNanos > waitNanos;
    long limitNanos = neverSleeps ? Math.min(OWN_POLL_NANOS, waitNanos) : spinNanos;
    do {
      for (int i = 0; i < SPINS; i++) {
        // Without a pause in between: a question is as short as one.
        if (pollPollers()) {
          return true;
        }
      }
      // Who only asks would keep others from this processor until the end of a time slice.
      Thread.yield();
    } while (loop.mayWait() && loop.clock().nanoTime() - startNanos < limitNanos);
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
