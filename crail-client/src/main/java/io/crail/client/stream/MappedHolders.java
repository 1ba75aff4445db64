/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageEndpoint;
import java.util.HashSet;
import java.util.Set;

/**
 * The datanodes of this host that hold acknowledged bytes of a stream. The end of such a datanode
 * breaks no request under way, so a stream asks before it says that its bytes are there to stay.
 * Thread-safe.
 */
final class MappedHolders {
  private final Set<StorageEndpoint> holders = new HashSet<>();
  private volatile StorageEndpoint last;

  /** Notes that a datanode holds bytes; does nothing with one of another host. */
  void add(StorageEndpoint holder) {
    if (holder != last && holder.isLocal()) {
      addAnother(holder);
    }
  }

  private synchronized void addAnother(StorageEndpoint holder) {
    holders.add(holder);
    last = holder;
  }

  /** Why bytes of the stream are lost; null while all datanodes live. */
  CrailException loss(String path) {
    if (last == null) {
      return null;
    }
    synchronized (this) {
      for (StorageEndpoint holder : holders) {
        if (holder.hasEnded()) {
          return ErrorCode.UNAVAILABLE.exception(
              path + ": a datanode of this host has ended that holds bytes of it");
        }
      }
    }
    return null;
  }
}
