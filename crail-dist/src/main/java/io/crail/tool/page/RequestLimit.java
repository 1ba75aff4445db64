/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import io.crail.common.Clock;

/**
 * Bounds the requests that reach the namenodes: how many at a time, and how many in a second.
 * Thread-safe.
 */
final class RequestLimit {
  private static final long SECOND_NANOS = 1_000_000_000L;

  private final int mostAtATime;
  private final int mostInASecond;
  private final Clock clock;
  private int inside;
  private int begun;
  private long secondNanos;

  RequestLimit(int mostAtATime, int mostInASecond, Clock clock) {
    this.mostAtATime = mostAtATime;
    this.mostInASecond = mostInASecond;
    this.clock = clock;
    this.secondNanos = clock.nanoTime();
  }

  /** Lets a request in, which then has to {@link #leave}; false if it has to be refused. */
  synchronized boolean enter() {
    long now = clock.nanoTime();
    if (now - secondNanos >= SECOND_NANOS) {
      secondNanos = now;
      begun = 0;
    }
    if (inside == mostAtATime || begun == mostInASecond) {
      return false;
    }
    inside++;
    begun++;
    return true;
  }

  /** A request has ended. */
  synchronized void leave() {
    inside--;
  }
}
