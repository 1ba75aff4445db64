/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.client.lease.LeaseReturn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The write leases of a store that no stream uses: those that came with created nodes, and those on
 * their way back to the namenode. A program that creates many files and writes none of them would
 * pile leases up at the namenode; so a store keeps the last few, gives older ones back, and stops
 * asking for them until a handle is written again. {@link HandleLease} says what becomes of each.
 * Thread-safe.
 */
final class CreatorLeases {
  private static final int MAX_IDLE = 256;

  /** Above it the namenode ends what does not come back, when this client falls silent. */
  private static final int MAX_LEAVING = 1 << 16;

  private final CoreFile[] idle = new CoreFile[MAX_IDLE];
  private int next;
  private boolean asks = true;

  /** Handles whose lease is being given back. */
  private final Set<CoreFile> leaving = ConcurrentHashMap.newKeySet();

  private final AtomicLong returned = new AtomicLong();

  /** Whether the next create should ask for the write lease of its node. */
  synchronized boolean asks() {
    return asks;
  }

  /** Notes a handle that is created with a lease. */
  void created(CoreFile file) {
    CoreFile old;
    synchronized (this) {
      old = idle[next];
      if (old != null) {
        // So that it is found all the time.
        leaving(old);
      }
      idle[next] = file;
      next = (next + 1) % MAX_IDLE;
    }
    if (old != null && old.lease().giveBack() != null) {
      synchronized (this) {
        asks = false;
      }
    }
  }

  /** Notes that a stream was opened on a handle whose create had asked for no lease. */
  synchronized void missed() {
    asks = true;
  }

  /** Notes a handle whose lease is being given back. */
  void leaving(CoreFile file) {
    if (leaving.size() < MAX_LEAVING) {
      leaving.add(file);
    }
  }

  /** Notes that a handle has nothing to give back. */
  void left(CoreFile file) {
    leaving.remove(file);
  }

  /** Notes that a handle has given its lease back. */
  void returned(CoreFile file) {
    returned.incrementAndGet();
    leaving.remove(file);
  }

  /** How many leases have come back so far. */
  long returned() {
    return returned.get();
  }

  /**
   * Gives back the lease of a node that another handle of this store wants to write.
   *
   * @return the try; null when this store has no such lease
   */
  LeaseReturn.Try release(long id, String path) {
    // In this order, for handles go from the first to the second.
    for (CoreFile file : snapshot()) {
      LeaseReturn.Try back = file == null ? null : file.lease().giveBackFor(id, path);
      if (back != null) {
        return back;
      }
    }
    for (CoreFile file : leaving) {
      LeaseReturn.Try back = file.lease().giveBackFor(id, path);
      if (back != null) {
        return back;
      }
    }
    return null;
  }

  /** Gives back what was created before a time, and again what has not come back. */
  void releaseOlderThan(long nanos) {
    for (CoreFile file : snapshot()) {
      if (file != null && file.createdBefore(nanos)) {
        file.lease().giveBack();
      }
    }
    for (CoreFile file : leaving) {
      file.lease().giveBack();
    }
  }

  /**
   * Gives everything back, when the store ends; a lease whose create is unanswered ends by time.
   *
   * @return the tries
   */
  List<LeaseReturn.Try> releaseAll() {
    Set<CoreFile> files = new HashSet<>(leaving);
    for (CoreFile file : snapshot()) {
      if (file != null) {
        files.add(file);
      }
    }
    List<LeaseReturn.Try> tries = new ArrayList<>();
    for (CoreFile file : files) {
      LeaseReturn.Try back = file.knownInfo() == null ? null : file.lease().giveBack();
      if (back != null) {
        tries.add(back);
      }
    }
    return tries;
  }

  private synchronized CoreFile[] snapshot() {
    return idle.clone();
  }
}
