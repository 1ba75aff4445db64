/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;

/**
 * The waits of an operation for space that is known to come. Its deadline is suspended meanwhile,
 * up to a limit. Most operations need none. Used by one thread at a time.
 */
final class SpaceWait {
  private final long latestNanos;
  private CrailException shortage;
  private long leftNanos;

  /**
   * Creates it before the first wait.
   *
   * @param latestNanos when the operation ends at the latest, however long it waits
   */
  SpaceWait(long latestNanos) {
    this.latestNanos = latestNanos;
  }

  long latestNanos() {
    return latestNanos;
  }

  /** Why the operation waits; null while it does not. */
  CrailException shortage() {
    return shortage;
  }

  /** Begins a wait or goes on with it. Returns the operation's deadline from now on. */
  long begin(CrailException cause, long deadlineNanos, long nowNanos) {
    boolean waitsAlready = shortage != null;
    shortage = cause;
    if (waitsAlready) {
      return deadlineNanos;
    }
    // From now on the time belongs to the wait. What is left of it comes back with the space.
    leftNanos = deadlineNanos - nowNanos;
    return latestNanos - leftNanos;
  }

  /** Ends a wait, if there is one. Returns the operation's deadline from now on. */
  long end(long deadlineNanos, long nowNanos) {
    if (shortage == null) {
      return deadlineNanos;
    }
    shortage = null;
    return nowNanos + leftNanos;
  }
}
