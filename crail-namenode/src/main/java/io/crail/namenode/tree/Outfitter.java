/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.SmallBytes;

/** Gives new nodes their first contents: a value, or space and a write lease. Thread-safe. */
public final class Outfitter {
  private final NodeStorage storage;
  private final LeaseTable<Node> leases;

  public Outfitter(NodeStorage storage, LeaseTable<Node> leases) {
    this.storage = storage;
    this.leases = leases;
  }

  /** The value that came with a put if it is small enough to be kept, otherwise null. */
  SmallBytes valueOf(NewNode request) {
    int length = request.valueLength();
    return length == 0 || length > storage.values().maxLength()
        ? null
        : new SmallBytes(request.value());
  }

  /**
   * Gives a new node the small value, or the write lease with the space that its writer needs.
   * Called under the parent's monitor, before any reader can find the node, so that nodes appear
   * under a name in the order of these decisions.
   *
   * @param value the result of {@link #valueOf}
   * @param old the replaced node, which the caller destroys afterwards, or null
   * @throws CrailException with {@link ErrorCode#NO_SPACE} or another code; then nothing was taken
   */
  void equip(Node node, NewNode request, SmallBytes value, Node old, long clientId)
      throws CrailException {
    if (value != null && storage.takeSmall(request.valueLength(), old)) {
      node.space(value);
    } else if (request.token() != 0 && Tree.isWithBytes(node)) {
      equipForWriter(node, request, clientId);
    } else if (request.valueLength() > 0) {
      throw storage.values().refusal(request.path(), request.valueLength());
    }
  }

  private void equipForWriter(Node node, NewNode request, long clientId) throws CrailException {
    NodeSpace space = firstSpace(node, request, clientId);
    try {
      synchronized (node) {
        node.lease(leases.grant(node, clientId, request.token()));
        node.space(space);
        if (request.isPut() && request.length() > 0) {
          node.beginPut();
        }
      }
    } catch (CrailException e) {
      storage.giveBack(space);
      throw e;
    }
  }

  /** Space for all bytes of a put, or for the first bytes after a create if there is any. */
  private NodeSpace firstSpace(Node node, NewNode request, long clientId) throws CrailException {
    if (request.isPut()) {
      return storage.allocateAll(request.path(), node, request.length(), leases.of(clientId));
    }
    return request.length() == 0
        ? null
        : storage.allocate(node, null, leases.of(clientId), 0, request.length());
  }
}
