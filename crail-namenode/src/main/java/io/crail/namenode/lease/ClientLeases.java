/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

import java.util.HashMap;
import java.util.Map;

/**
 * The write leases of one client, renewed all at once, and which datanodes it has lately not
 * reached. Thread-safe.
 *
 * @param <T> what leases are for, a node
 */
public final class ClientLeases<T> {
  /** Most datanodes that are kept in mind. */
  private static final int MOST_AVOIDED = 64;

  private final long clientId;
  private WriteLease<T> first;
  private int count;
  private volatile long renewedUntilNanos;
  private volatile boolean gone;

  /** Datanodes by id, and until when they are avoided. Never changed, but exchanged. */
  private volatile Map<Integer, Long> avoided = Map.of();

  ClientLeases(long clientId, long untilNanos) {
    this.clientId = clientId;
    this.renewedUntilNanos = untilNanos;
  }

  public long clientId() {
    return clientId;
  }

  /** Until when the leases last that have no end of their own. */
  public long renewedUntilNanos() {
    return renewedUntilNanos;
  }

  /** True once the client has not renewed in time; its leases are being ended. */
  boolean isGone() {
    return gone;
  }

  /** Renews all leases, unless it is too late. */
  public synchronized void renew(long untilNanos) {
    // Loops of the namenode may get here in another order than they have looked at the clock.
    if (!gone && untilNanos - renewedUntilNanos > 0) {
      renewedUntilNanos = untilNanos;
    }
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

  /** Whether the client gets space of a datanode only when no other one has any. */
  public boolean avoids(int datanode, long nowNanos) {
    Map<Integer, Long> present = avoided;
    Long until = present.isEmpty() ? null : present.get(datanode);
    return until != null && nowNanos - until < 0;
  }

  synchronized int count() {
    return count;
  }

  /** Adds a lease; false when the client is gone. */
  synchronized boolean add(WriteLease<T> lease, long untilNanos) {
    if (gone) {
      return false;
    }
    renew(untilNanos);
    lease.link(null, first, true);
    if (first != null) {
      first.link(lease, first.next(), true);
    }
    first = lease;
    count++;
    return true;
  }

  /** Takes a lease out; false when it was not in any more. */
  synchronized boolean remove(WriteLease<T> lease) {
    if (!lease.isLinked()) {
      return false;
    }
    WriteLease<T> previous = lease.previous();
    WriteLease<T> next = lease.next();
    if (previous == null) {
      first = next;
    } else {
      previous.link(previous.previous(), next, true);
    }
    if (next != null) {
      next.link(previous, next.next(), true);
    }
    lease.link(null, null, false);
    count--;
    return true;
  }

  /** Takes any lease out; null when there is none. */
  synchronized WriteLease<T> removeAny() {
    WriteLease<T> lease = first;
    if (lease != null) {
      remove(lease);
    }
    return lease;
  }

  /** Declares the client gone when it has not renewed in time. */
  synchronized boolean expire(long nowNanos) {
    if (!gone && nowNanos - renewedUntilNanos >= 0) {
      gone = true;
      return true;
    }
    return false;
  }
}
