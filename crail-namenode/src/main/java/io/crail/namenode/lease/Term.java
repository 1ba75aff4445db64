/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/** The time that a lease lasts. Changed under the monitor of its client. */
abstract class Term extends Chain.Link {
  private long endNanos;
  private volatile boolean overdue;

  Term(long endNanos) {
    this.endNanos = endNanos;
  }

  /** When it ends. Under the node's monitor, or that of the client. */
  public final long endNanos() {
    return endNanos;
  }

  /** Sets its end. Under both monitors. */
  final void endAt(long nanos) {
    endNanos = nanos;
  }

  /** True once it has run out. */
  final boolean isOverdue() {
    return overdue;
  }

  /** It has run out. Under the client's monitor, before the node's is taken. */
  final void markOverdue() {
    overdue = true;
  }
}
