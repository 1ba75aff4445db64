/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

import java.util.HashMap;
import java.util.Map;

/**
 * The write leases of one client, and the datanodes that the client has recently not reached. All
 * leases last equally long from when they were granted or renewed, so they are in the order in
 * which they end. Thread-safe.
 */
public final class ClientLeases {
  /** The most datanodes that are remembered. */
  private static final int MOST_AVOIDED = 64;

  private final long clientId;

  // The queue of leases, by when they end.
  private Term first;
  private Term last;
  private long seenUntilNanos;
  private boolean gone;

  /**
   * The datanodes to avoid, by id, with the end of that time. The map is replaced, never changed.
   */
  private volatile Map<Integer, Long> avoided = Map.of();

  ClientLeases(long clientId, long untilNanos) {
    this.clientId = clientId;
    this.seenUntilNanos = untilNanos;
  }

  public long clientId() {
    return clientId;
  }

  /** Notes that the client could not reach a datanode. */
  public synchronized void avoid(int datanode, long nowNanos, long untilNanos) {
    Map<Integer, Long> fresh = new HashMap<>(avoided);
    fresh.values().removeIf(until -> nowNanos - until >= 0);
    if (fresh.size() < MOST_AVOIDED || fresh.containsKey(datanode)) {
      fresh.put(datanode, untilNanos);
    }
    avoided = fresh;
  }

  /** Whether the client gets space at a datanode only when no other datanode has any. */
  public boolean avoids(int datanode, long nowNanos) {
    Map<Integer, Long> present = avoided;
    Long until = present.isEmpty() ? null : present.get(datanode);
    return until != null && nowNanos - until < 0;
  }

  /** Adds a lease. Returns false when this was forgotten, and there is a new one. */
  synchronized boolean add(Term lease) {
    if (gone) {
      return false;
    }
    append(lease);
    return true;
  }

  private void append(Term lease) {
    lease.queued = true;
    lease.previous = last;
    if (last == null) {
      first = lease;
    } else {
      last.next = lease;
    }
    last = lease;
    // Threads of the namenode may get here in a different order than they have read the clock.
    if (lease.endNanos() - seenUntilNanos > 0) {
      seenUntilNanos = lease.endNanos();
    }
  }

  /** Moves the end of a lease. Returns false when it has run out. */
  synchronized boolean renew(Term lease, long untilNanos) {
    if (untilNanos - lease.endNanos() > 0 && remove(lease)) {
      lease.endAt(untilNanos);
      append(lease);
    }
    return lease.queued;
  }

  /** Moves the ends of all leases. */
  synchronized void renewAll(long untilNanos) {
    for (Term lease = first; lease != null; lease = lease.next) {
      lease.endAt(untilNanos);
    }
    seenUntilNanos = untilNanos;
  }

  /** Lets all leases end, and not be renewed. */
  synchronized void endAll(long nowNanos) {
    for (Term lease = first; lease != null; lease = lease.next) {
      lease.endAt(nowNanos);
      lease.markOverdue();
    }
    seenUntilNanos = nowNanos;
  }

  /** Removes a lease. Returns false when it was already removed. */
  synchronized boolean remove(Term lease) {
    if (!lease.queued) {
      return false;
    }
    if (lease.previous == null) {
      first = lease.next;
    } else {
      lease.previous.next = lease.next;
    }
    if (lease.next == null) {
      last = lease.previous;
    } else {
      lease.next.previous = lease.previous;
    }
    lease.previous = null;
    lease.next = null;
    lease.queued = false;
    return true;
  }

  /** Removes and returns a lease that has run out; null when there is none. */
  synchronized Term pollOverdue(long nowNanos) {
    Term lease = first;
    if (lease == null || nowNanos - lease.endNanos() < 0) {
      return null;
    }
    remove(lease);
    lease.markOverdue();
    return lease;
  }

  /** Whether this can be forgotten: the client was not seen for the time of a lease. */
  synchronized boolean isGone(long nowNanos) {
    gone |= first == null && nowNanos - seenUntilNanos >= 0;
    return gone;
  }
}
