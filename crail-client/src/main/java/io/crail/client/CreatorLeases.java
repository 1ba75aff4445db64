/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.protocol.OperationCall;
import io.crail.protocol.SetSize;

/**
 * The write leases that came with created nodes and that no stream has used yet. A program that
 * creates many files and writes none of them would pile leases up at the namenode; so a store keeps
 * the last few, gives older ones back, and stops asking for them until a handle is written again.
 * Thread-safe.
 */
final class CreatorLeases {
  private static final int MAX_IDLE = 256;

  private final CoreFile[] idle = new CoreFile[MAX_IDLE];
  private int next;
  private boolean asks = true;

  /** Whether the next create should ask for the write lease of its node. */
  synchronized boolean asks() {
    return asks;
  }

  /** Notes a handle that is created with a lease. */
  void created(CoreFile file) {
    CoreFile old;
    synchronized (this) {
      old = idle[next];
      idle[next] = file;
      next = (next + 1) % MAX_IDLE;
    }
    if (old != null && old.giveCreatorLeaseBack() != null) {
      synchronized (this) {
        asks = false;
      }
    }
  }

  /** Notes that a stream was opened on a handle whose create had asked for no lease. */
  synchronized void missed() {
    asks = true;
  }

  /**
   * Gives back the unused lease of a node that another handle of this store wants to write.
   *
   * @return the call that does it; null when this store has no such lease
   */
  OperationCall<SetSize.Request, SetSize.Response> release(long id) {
    for (CoreFile file : snapshot()) {
      if (file != null && file.knows(id)) {
        return file.giveCreatorLeaseBack();
      }
    }
    return null;
  }

  /** Gives back what was created before a time. */
  void releaseOlderThan(long nanos) {
    for (CoreFile file : snapshot()) {
      if (file != null && file.createdBefore(nanos)) {
        file.giveCreatorLeaseBack();
      }
    }
  }

  private synchronized CoreFile[] snapshot() {
    return idle.clone();
  }
}
