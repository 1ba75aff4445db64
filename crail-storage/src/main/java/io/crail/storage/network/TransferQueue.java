/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.CrailException;

/**
 * A queue of transfers that are linked through themselves, so that a place in it costs no
 * allocation. A transfer is in one queue at a time. Used only in the loop.
 *
 * @param <T> the tier's kind of transfer
 */
public final class TransferQueue<T extends NetworkTransfer<T>> {
  private T first;
  private T last;
  private int size;

  /** Creates an empty queue. */
  public TransferQueue() {}

  /** True when there is no transfer in this queue. */
  public boolean isEmpty() {
    return first == null;
  }

  /** The number of transfers. */
  public int size() {
    return size;
  }

  /** The first one, or null. */
  public T first() {
    return first;
  }

  /** Adds a transfer at the end. */
  public void addLast(T transfer) {
    if (last == null) {
      first = transfer;
    } else {
      last.next = transfer;
    }
    last = transfer;
    size++;
  }

  /** Takes the first one out; null when there is none. */
  public T pollFirst() {
    T taken = first;
    if (taken != null) {
      first = taken.unlink();
      if (first == null) {
        last = null;
      }
      size--;
    }
    return taken;
  }

  /** Takes all out; returns the first of a list, see {@link NetworkTransfer#next}. */
  public T takeAll() {
    T taken = first;
    clear();
    return taken;
  }

  /** Moves all transfers of another queue before those of this one. */
  public void addAllFirst(TransferQueue<T> others) {
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

  /** Moves out the transfers whose deadline has passed. */
  public void moveOverdue(long nowNanos, TransferQueue<T> overdue) {
    for (int left = size; left > 0; left--) {
      T transfer = pollFirst();
      (transfer.isOverdue(nowNanos) ? overdue : this).addLast(transfer);
    }
  }

  /** Ends all transfers with an error, except those that their owners add during this call. */
  public void endAll(CrailException cause) {
    for (int left = size; left > 0 && first != null; left--) {
      pollFirst().end(cause);
    }
  }

  private void clear() {
    first = null;
    last = null;
    size = 0;
  }
}
