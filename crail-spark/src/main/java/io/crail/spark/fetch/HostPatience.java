/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import java.time.Duration;
import java.util.Optional;

/**
 * The patience that all requests of an executor to one host share: it begins with the first attempt
 * that is not answered, and ends for all at the same time. A host without patience left gets one
 * attempt for all requests that have come before it. It has patience again when it has answered, or
 * when it has not been asked for as long as the patience is. Thread-safe.
 */
final class HostPatience {
  private final long patienceNanos;
  private final FetchTime time;

  /** The error of the last attempt in vain; null while the host answers. */
  private volatile Exception cause;

  /** When the first attempt of this silence began. */
  private long firstNanos;

  /** When the last attempt that has ended began, and when it ended. */
  private long lastNanos;

  private long lastEndNanos;

  HostPatience(Duration patience, FetchTime time) {
    this.patienceNanos = patience.toNanos();
    this.time = time;
  }

  /** The time that attempts take. */
  FetchTime time() {
    return time;
  }

  /** {@return how long attempts are made in vain} */
  long patienceNanos() {
    return patienceNanos;
  }

  /** Notes an answer. */
  void answered() {
    if (cause != null) {
      synchronized (this) {
        cause = null;
      }
    }
  }

  /**
   * Notes an attempt that was not answered.
   *
   * @param beganNanos when it began
   * @param nowNanos when it ended
   * @return whether there is patience for another one
   */
  synchronized boolean inVain(Exception error, long beganNanos, long nowNanos) {
    if (cause == null || beganNanos - lastEndNanos > patienceNanos) {
      firstNanos = beganNanos;
      lastNanos = beganNanos;
    }
    cause = error;
    lastNanos = Math.max(lastNanos - beganNanos, 0) + beganNanos;
    lastEndNanos = nowNanos;
    return nowNanos - firstNanos < patienceNanos;
  }

  /**
   * Returns whether a request fails without an attempt of its own.
   *
   * @param cameNanos when it came
   * @return the error of an attempt that was made after it had come, when there is no patience left
   */
  synchronized Optional<Exception> givenUp(long cameNanos) {
    boolean after = cause != null && lastNanos - cameNanos >= 0;
    return after && lastEndNanos - firstNanos >= patienceNanos
        ? Optional.of(cause)
        : Optional.empty();
  }
}
