/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.CrailException;

/** A queue of transfers, linked through themselves. Used only in the loop. */
final class RdmaTransfers {
  private RdmaTransfer first;
  private RdmaTransfer last;
  private int size;

  boolean isEmpty() {
    return first == null;
  }

  int size() {
    return size;
  }

  /** The first one, or null. */
  RdmaTransfer first() {
    return first;
  }

  void addLast(RdmaTransfer transfer) {
    if (last == null) {
      first = transfer;
    } else {
      last.next = transfer;
    }
    last = transfer;
    size++;
  }

  /** Takes the first one out; null when there is none. */
  RdmaTransfer pollFirst() {
    RdmaTransfer taken = first;
    if (taken != null) {
      first = taken.next;
      if (first == null) {
        last = null;
      }
      taken.next = null;
      size--;
    }
    return taken;
  }

  /** Takes all out; gives the first of a list. */
  RdmaTransfer takeAll() {
    RdmaTransfer taken = first;
    clear();
    return taken;
  }

  /** Moves all of another queue before those of this one. */
  void addAllFirst(RdmaTransfers others) {
    if (others.isEmpty()) {
      return;
    }
    others.last.next = first;
    first = others.first;
    if (last == null) {
      last = others.last;
    }
    size += others.size;
    others.clear();
  }

  /** Takes out those whose deadline has passed. */
  void moveOverdue(long nowNanos, RdmaTransfers overdue) {
    for (int left = size; left > 0; left--) {
      RdmaTransfer transfer = pollFirst();
      (transfer.isOverdue(nowNanos) ? overdue : this).addLast(transfer);
    }
  }

  /** Ends all, with success or an error, and those that their owners add meanwhile do not count. */
  void endAll(CrailException cause) {
    for (int left = size; left > 0; left--) {
      pollFirst().end(cause);
    }
  }

  private void clear() {
    first = null;
    last = null;
    size = 0;
  }
}
