/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All write leases, by client. A node's lease is granted, ended and checked under the node's
 * monitor. {@link #tick} ends the leases that have run out. Thread-safe.
 *
 * @param <T> what the leases are for, a node
 */
public final class LeaseTable<T> {
  /** Handles the node of a lease that has run out. */
  public interface Expiry<T> {
    /** The holder of the lease has not renewed it in time, or has let it run out. */
    void expired(WriteLease<T> lease);
  }

  private static final Logger LOG = LoggerFactory.getLogger(LeaseTable.class);
  private static final int MAX_EXPIRED_PER_TICK = 20_000;

  /** Bytes of heap of a lease. */
  private static final long LEASE_FOOTPRINT = Footprint.object(4, 28);

  /** Bytes of heap of a client that has leases. */
  private static final long CLIENT_FOOTPRINT = Footprint.object(3, 17) + Footprint.MAP_ENTRY;

  private final Clock clock;
  private final long leaseNanos;
  private final int maxLeases;
  private final HeapBudget budget;
  private final long footprint;
  private final ConcurrentHashMap<Long, ClientLeases> clients = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();

  /**
   * Creates an empty table.
   *
   * @param maxLeases the most leases
   * @param budget has to have room for each lease, and for what remains of it
   * @param remains bytes of heap that may be needed for the writer when a lease has ended
   */
  public LeaseTable(Clock clock, long leaseNanos, int maxLeases, HeapBudget budget, long remains) {
    this.clock = clock;
    this.leaseNanos = leaseNanos;
    this.maxLeases = maxLeases;
    this.budget = budget;
    this.footprint = LEASE_FOOTPRINT + remains;
  }

  /**
   * Grants a lease; the caller puts it into the node.
   *
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when there are too many
   */
  public WriteLease<T> grant(T subject, long clientId, long token) throws CrailException {
    if (count.incrementAndGet() > maxLeases) {
      count.decrementAndGet();
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          subject + ": there are " + maxLeases + " write leases, see crail.namenode.maxleases");
    }
    if (!budget.take(footprint, 0)) {
      count.decrementAndGet();
      throw budget.refusal(subject);
    }
    return make(subject, clientId, token);
  }

  /** A lease that was granted by an earlier start, whatever the limits are now. */
  WriteLease<T> restore(T subject, long clientId, long token) {
    count.incrementAndGet();
    budget.add(footprint);
    return make(subject, clientId, token);
  }

  private WriteLease<T> make(T subject, long clientId, long token) {
    while (true) {
      long now = clock.nanoTime();
      long until = now + leaseNanos;
      ClientLeases client =
          clients.computeIfAbsent(
              clientId,
              id -> {
                budget.add(CLIENT_FOOTPRINT);
                return new ClientLeases(clientId, until);
              });
      WriteLease<T> lease = new WriteLease<>(subject, token, client, now, until);
      if (client.add(lease)) {
        return lease;
      }
      // The client was forgotten just now.
      forget(client);
    }
  }

  private void forget(ClientLeases client) {
    if (clients.remove(client.clientId(), client)) {
      budget.give(CLIENT_FOOTPRINT);
    }
  }

  private void ended() {
    count.decrementAndGet();
    budget.give(footprint);
  }

  /** Bytes of heap that clients and their leases take. */
  public long footprint() {
    return clients.size() * CLIENT_FOOTPRINT + count.get() * footprint;
  }

  /** The leases of a client; null when it is not known. */
  public ClientLeases of(long clientId) {
    return clients.get(clientId);
  }

  /** Takes back a lease that was granted, and that no node got. */
  public void giveBack(WriteLease<T> lease) {
    end(lease);
  }

  /** Ends a lease whose holder is known to have stopped writing, or whose node is gone. */
  void end(WriteLease<T> lease) {
    if (lease.client().remove(lease)) {
      ended();
    }
  }

  /** Lets a lease run out a lease time from now, even if its client renews it. */
  void endLater(WriteLease<T> lease) {
    if (lease.isHeld() && renew(lease)) {
      lease.renewNoMore();
    }
  }

  /** Lets all leases last for their whole time again, also those that end then. */
  void renewAll() {
    long until = clock.nanoTime() + leaseNanos;
    clients.values().forEach(client -> client.renewAll(until));
  }

  /** Lets all leases run out at once, whatever their clients do. Before anything is served. */
  public void endAll() {
    long now = clock.nanoTime();
    clients.values().forEach(client -> client.endAll(now));
  }

  /** Lets a lease that is held last for its whole time again. Returns false when it has run out. */
  public boolean renew(WriteLease<T> lease) {
    return lease.client().renew(lease, clock.nanoTime() + leaseNanos);
  }

  /** The number of leases. */
  public int size() {
    return count.get();
  }

  /** The number of clients that are remembered for their leases; for tests. */
  public int clients() {
    return clients.size();
  }

  /** Ends the leases that have run out. One thread at a time may call it. */
  public void tick(Expiry<T> expiry) {
    long now = clock.nanoTime();
    int left = MAX_EXPIRED_PER_TICK;
    for (ClientLeases client : clients.values()) {
      int before = left;
      for (WriteLease<T> lease = poll(client, now, left); lease != null; left--) {
        ended();
        expiry.expired(lease);
        lease = poll(client, now, left - 1);
      }
      if (client.isGone(now)) {
        forget(client);
        if (left < before) {
          LOG.info(
              "client {} is silent, its {} write leases end",
              Long.toHexString(client.clientId()),
              before - left);
        }
      }
    }
  }

  // All leases in the table are for the same kind of subject.
  @SuppressWarnings("unchecked")
  private WriteLease<T> poll(ClientLeases client, long nowNanos, int left) {
    return left > 0 ? (WriteLease<T>) client.pollOverdue(nowNanos) : null;
  }
}
