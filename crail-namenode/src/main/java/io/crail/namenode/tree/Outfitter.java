/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallBytes;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.Extent;

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
   * Gives a new node one of three: the small value; the space where its bytes already lie; or the
   * write lease with the space that its writer needs or is writing to. Called under the parent's
   * monitor, before any reader can find the node, so that nodes appear under a name in the order of
   * these decisions.
   *
   * @param value the result of {@link #valueOf}
   * @param old the replaced node, which the caller destroys afterwards, or null
   * @throws CrailException with {@link ErrorCode#NO_SPACE} or another code; then nothing was taken,
   *     but space that was given ahead may be gone
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
    Allocation granted =
        request.grant() == 0
            ? null
            : storage.takeGranted(node, request.grant(), request.grantToken(), request.length());
    if (granted != null && request.isWritten()) {
      granted.commit(request.length());
      node.space(granted);
      return;
    }
    NodeSpace space = granted != null ? granted : firstSpace(node, request, clientId);
    try {
      synchronized (node) {
        WriteLease<Node> lease = leases.grant(node, clientId, request.token());
        if (granted != null) {
          // Unlike space that comes with the answer, this space may be written to before the
          // answer.
          lease.spaceInUse();
        }
        node.lease(lease);
        node.space(space);
        if (request.isPut() && request.length() > 0) {
          node.beginPut();
        }
      }
    } catch (CrailException e) {
      if (granted != null) {
        // The client may still write to it until it has rested, as before.
        storage.releaseGranted(
            granted, new Quarantine.Writer(node.id(), request.token(), clientId));
      } else {
        storage.giveBack(space);
      }
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

  /**
   * Takes space for the next value.
   *
   * @param id names the space; the id of no node
   */
  void giveAhead(Node node, NewNode request, long id, long clientId) {
    Extent extent =
        storage.grant(
            node, id, request.token(), clientId, leases.of(clientId), request.nextLength());
    if (extent != null) {
      request.give(new Put.Given(id, extent));
    }
  }
}
