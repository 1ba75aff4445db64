/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets a log end between requests, so that what one request has written is written together: its
 * changes and its answer. If a namenode ends there, a request that is sent again afterwards is new,
 * or has its answer. Requests last for some microseconds. If one does not end soon, since its
 * thread does not run, the log ends within it, and its answer may be lost. Thread-safe.
 */
public final class RequestsUnderWay {
  private static final int SPINS = 200;
  private static final int PAUSES = 40;
  private static final long PAUSE_NANOS = 20_000;

  /** How often a request that has not ended soon is not waited for. */
  private static final int SKIPS = 16;

  private final AtomicInteger count = new AtomicInteger();
  private volatile boolean isEnding;

  // Used by who calls between.
  private int skips;

  /** A request begins, before it takes a lock. Waits a little while the log is about to end. */
  public void begin() {
    count.incrementAndGet();
    if (isEnding) {
      count.decrementAndGet();
      waitUntil(false);
      count.incrementAndGet();
    }
  }

  /** A request has its answer, or is given back. */
  public void end() {
    count.decrementAndGet();
  }

  /**
   * Runs an action while no request is under way, or after some milliseconds. One thread at a time
   * may call it, and must be none that serves requests.
   */
  public void between(Runnable action) {
    if (skips > 0) {
      skips--;
      action.run();
      return;
    }
    isEnding = true;
    try {
      waitUntil(true);
      skips = count.get() > 0 ? SKIPS : 0;
      action.run();
    } finally {
      isEnding = false;
    }
  }

  /** Waits until no request is under way, or until none has to wait. */
  private void waitUntil(boolean none) {
    for (int i = 0; i < SPINS + PAUSES && (none ? count.get() > 0 : isEnding); i++) {
      if (i < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }
}
