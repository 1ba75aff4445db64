/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Decides whether Crail is asked. After an error it is left alone for a while, so that a dead
 * cluster costs its timeout once and not with each read. Then one thread tries, while the others go
 * on without. Thread-safe.
 */
final class BackOff {
  private static final int MOST_DOUBLINGS = 5;

  private final long pauseNanos;
  private final long probeNanos;
  private final LongSupplier nanoTime;

  /** Pauses in a row; 0 while all is well. Written under the lock. */
  private volatile int pauses;

  /** Whether a thread tries since the pause is over. Guarded by this. */
  private boolean trying;

  /** Until when Crail is left alone, or until when the thread tries. Guarded by this. */
  private long untilNanos;

  /**
   * Creates it.
   *
   * @param pause the first one
   * @param probe how long the thread that tries may take, until another one does
   */
  BackOff(Duration pause, Duration probe, LongSupplier nanoTime) {
    this.pauseNanos = pause.toNanos();
    this.probeNanos = probe.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Whether there was no error since Crail has answered last. */
  boolean isWell() {
    return pauses == 0;
  }

  /** Whether {@link #mayAsk} would let the caller ask now. */
  boolean wouldLet() {
    return pauses == 0 || isPauseOver();
  }

  private synchronized boolean isPauseOver() {
    return pauses == 0 || nanoTime.getAsLong() - untilNanos >= 0;
  }

  /** Whether the caller may ask Crail, which it does then. */
  boolean mayAsk() {
    return pauses == 0 || mayTry();
  }

  private synchronized boolean mayTry() {
    long now = nanoTime.getAsLong();
    if (pauses == 0) {
      return true;
    }
    if (now - untilNanos < 0) {
      return false;
    }
    trying = true;
    untilNanos = now + probeNanos;
    return true;
  }

  /** Crail has answered. */
  void succeeded() {
    if (pauses != 0) {
      recovered();
    }
  }

  /** An answer to what was asked before the pause says nothing. */
  private synchronized void recovered() {
    if (trying) {
      trying = false;
      pauses = 0;
    }
  }

  /**
   * Crail has not answered.
   *
   * @return whether this is the first error of an outage
   */
  synchronized boolean failed() {
    if (pauses != 0 && !trying) {
      // Asked before the pause began.
      return false;
    }
    untilNanos = nanoTime.getAsLong() + (pauseNanos << Math.min(pauses, MOST_DOUBLINGS));
    trying = false;
    return pauses++ == 0;
  }
}
