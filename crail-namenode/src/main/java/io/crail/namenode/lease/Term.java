/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

/**
 * The time that a lease lasts, as an element of the queue of its client's leases. Changed under the
 * monitor of its client.
 */
abstract class Term {
  // The neighbours in the queue, and whether it is there. For the client's leases.
  Term previous;
  Term next;
  boolean queued;
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
