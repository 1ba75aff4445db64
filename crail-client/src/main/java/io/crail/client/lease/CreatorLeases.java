/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The write leases of a store that no stream uses: the leases that came with created nodes, and the
 * leases on their way back to the namenode. A program that creates many files and writes none of
 * them would pile up leases at the namenode. So a store keeps the last few and gives older ones
 * back. It also stops asking for leases until a program writes to a created handle again. {@link
 * HandleLease} describes the life of one lease. Thread-safe.
 */
public final class CreatorLeases extends HandleLease.Owner {
  private static final int MAX_IDLE = 256;

  /** Most leases on their way back that other handles wait for. */
  private static final int MAX_LEAVING = 1 << 16;

  private final HandleLease[] idle = new HandleLease[MAX_IDLE];
  private int next;
  private boolean asks = true;

  /** Leases that are being given back. */
  private final Set<HandleLease> leaving = ConcurrentHashMap.newKeySet();

  private final AtomicLong returned = new AtomicLong();

  /** Whether the next create should ask for the write lease of its node. */
  public synchronized boolean asks() {
    return asks;
  }

  /** Notes the lease of a node that is being created. */
  public void created(HandleLease lease) {
    HandleLease old;
    synchronized (this) {
      old = idle[next];
      if (old != null) {
        // Noted before it is removed from the others, so that it is found all the time.
        leaving(old);
      }
      idle[next] = lease;
      next = (next + 1) % MAX_IDLE;
    }
    if (old != null && old.giveBack() != null) {
      synchronized (this) {
        asks = false;
      }
    }
  }

  /** Notes that a stream was opened on a handle whose create had asked for no lease. */
  public synchronized void missed() {
    asks = true;
  }

  @Override
  void leaving(HandleLease lease) {
    if (leaving.size() < MAX_LEAVING) {
      leaving.add(lease);
    }
  }

  @Override
  void left(HandleLease lease) {
    leaving.remove(lease);
  }

  @Override
  void returned(HandleLease lease) {
    returned.incrementAndGet();
    leaving.remove(lease);
  }

  /** How many leases have come back so far. */
  public long returned() {
    return returned.get();
  }

  /**
   * Gives back the lease of a node that another handle of this store wants to write.
   *
   * @return the try; null when this store has no such lease
   */
  public LeaseReturn.Try release(long id, String path) {
    // In this order, since leases move from the first collection to the second.
    for (HandleLease lease : snapshot()) {
      LeaseReturn.Try back = lease == null ? null : lease.giveBackFor(id, path);
      if (back != null) {
        return back;
      }
    }
    for (HandleLease lease : leaving) {
      LeaseReturn.Try back = lease.giveBackFor(id, path);
      if (back != null) {
        return back;
      }
    }
    return null;
  }

  /** Gives back the leases of nodes created before a time. */
  void releaseOlderThan(long nanos) {
    for (HandleLease lease : snapshot()) {
      if (lease != null && lease.createdBefore(nanos)) {
        lease.giveBack();
      }
    }
  }

  /**
   * Gives everything back, when the store ends; a lease whose create is unanswered ends by time.
   *
   * @return the tries
   */
  public List<LeaseReturn.Try> releaseAll() {
    Set<HandleLease> all = new HashSet<>(leaving);
    for (HandleLease lease : snapshot()) {
      if (lease != null) {
        all.add(lease);
      }
    }
    List<LeaseReturn.Try> tries = new ArrayList<>();
    for (HandleLease lease : all) {
      LeaseReturn.Try back = lease.isNodeKnown() ? lease.giveBack() : null;
      if (back != null) {
        tries.add(back);
      }
    }
    return tries;
  }

  private synchronized HandleLease[] snapshot() {
    return idle.clone();
  }
}
