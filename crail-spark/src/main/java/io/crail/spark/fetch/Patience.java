/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.UnavailableException;

/**
 * Decides whether a failed attempt is worth another one: if no server has answered, within the
 * patience with that host, and where a limit was reached, for as long. Used by one thread.
 */
final class Patience {
  private final HostPatience host;
  private boolean begun;
  private long firstNanos;

  Patience(HostPatience host) {
    this.host = host;
  }

  /** Notes an attempt that came through. Other attempts of this may still be in vain. */
  void answered() {
    host.answered();
  }

  /**
   * Notes an attempt that failed.
   *
   * @param beganNanos when it began
   * @return whether to try again, after a {@linkplain FetchTime#pause pause}
   */
  boolean tryAgain(Exception failure, long beganNanos) {
    boolean silent =
        failure instanceof UnavailableException || failure instanceof CrailTimeoutException;
    if (!silent && !(failure instanceof LimitExceededException)) {
      return false;
    }
    if (!begun) {
      begun = true;
      firstNanos = beganNanos;
    }
    long now = host.time().nanoTime();
    // Other nodes of the host may answer meanwhile, so there is an end without its silence too.
    return (!silent || host.inVain(failure, beganNanos, now))
        && now - firstNanos < host.patienceNanos();
  }

  /** Begins anew after the last attempt. */
  void renew() {
    begun = false;
  }
}
