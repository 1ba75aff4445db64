/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

import java.util.HashMap;
import java.util.Map;

/**
 * The write leases of one client, which are renewed together, and the datanodes that the client has
 * recently not reached. Thread-safe.
 */
public final class ClientLeases {
  /** The most datanodes that are remembered. */
  private static final int MOST_AVOIDED = 64;

  private final long clientId;
  private final Chain leases = new Chain();
  private volatile long renewedUntilNanos;
  private volatile boolean gone;

  /**
   * The datanodes to avoid, by id, with the end of that time. The map is replaced, never changed.
   */
  private volatile Map<Integer, Long> avoided = Map.of();

  ClientLeases(long clientId, long untilNanos) {
    this.clientId = clientId;
    this.renewedUntilNanos = untilNanos;
  }

  public long clientId() {
    return clientId;
  }

  /** The end of the leases that have no end of their own. */
  public long renewedUntilNanos() {
    return renewedUntilNanos;
  }

  /** True once the client has not renewed in time. Its leases are then being ended. */
  boolean isGone() {
    return gone;
  }

  /** Renews all leases unless it is too late. */
  public synchronized void renew(long untilNanos) {
    // Threads of the namenode may get here in a different order than they have read the clock.
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

  /** Whether the client gets space at a datanode only when no other datanode has any. */
  public boolean avoids(int datanode, long nowNanos) {
    Map<Integer, Long> present = avoided;
    Long until = present.isEmpty() ? null : present.get(datanode);
    return until != null && nowNanos - until < 0;
  }

  synchronized int count() {
    return leases.count();
  }

  /** Adds a lease. Returns false when the client is gone. */
  synchronized boolean add(Chain.Link lease, long untilNanos) {
    if (gone) {
      return false;
    }
    renew(untilNanos);
    leases.add(lease);
    return true;
  }

  /** Removes a lease. Returns false when it was already removed. */
  synchronized boolean remove(Chain.Link lease) {
    return leases.remove(lease);
  }

  /** Removes and returns any lease; null when there is none. */
  synchronized Chain.Link removeAny() {
    Chain.Link lease = leases.any();
    if (lease != null) {
      leases.remove(lease);
    }
    return lease;
  }

  /** Declares the client gone if it has not renewed in time. */
  synchronized boolean expire(long nowNanos) {
    if (!gone && nowNanos - renewedUntilNanos >= 0) {
      gone = true;
      return true;
    }
    return false;
  }
}
