/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;

/**
 * The time that an operation of a stream has. While it waits for space that is known to come, its
 * deadline stands still, up to a limit. Used by one thread at a time.
 */
final class OperationTime {
  private final long latestNanos;
  private long deadlineNanos;
  private CrailException shortage;
  private long leftNanos;

  /**
   * Begins the time.
   *
   * @param deadlineNanos when the operation ends unless it waits for space
   * @param latestNanos when it ends at the latest
   */
  OperationTime(long deadlineNanos, long latestNanos) {
    this.deadlineNanos = deadlineNanos;
    this.latestNanos = latestNanos;
  }

  /** The same time, for a part of the operation. */
  OperationTime copy() {
    return new OperationTime(deadlineNanos, latestNanos);
  }

  /** When the operation ends unless it waits: later by the time for which it has waited. */
  long deadlineNanos() {
    return deadlineNanos;
  }

  /** When the operation ends at the latest, however long it waits. */
  long latestNanos() {
    return latestNanos;
  }

  boolean isOver(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }

  /** Why the operation waits for space; null while it does not. */
  CrailException shortage() {
    return shortage;
  }

  /** Begins or goes on with a wait for space. */
  void await(CrailException cause, long nowNanos) {
    if (shortage == null) {
      // From now on the time belongs to the wait. What is left of it comes back with the space.
      leftNanos = deadlineNanos - nowNanos;
      deadlineNanos = latestNanos - leftNanos;
    }
    shortage = cause;
  }

  /** Ends a wait for space, if there is one. */
  void endWait(long nowNanos) {
    if (shortage != null) {
      shortage = null;
      deadlineNanos = nowNanos + leftNanos;
    }
  }
}
