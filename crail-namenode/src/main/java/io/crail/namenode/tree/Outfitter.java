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

/** Gives new nodes what they begin with: a value, space, and a write lease. Thread-safe. */
public final class Outfitter {
  private final NodeStorage storage;
  private final LeaseTable<Node> leases;

  public Outfitter(NodeStorage storage, LeaseTable<Node> leases) {
    this.storage = storage;
    this.leases = leases;
  }

  /** The value that came with a put, if it is small enough to be kept; else null. */
  SmallBytes valueOf(NewNode request) {
    int length = request.valueLength();
    return length == 0 || length > storage.values().maxLength()
        ? null
        : new SmallBytes(request.value());
  }

  /**
   * Gives a new node the small value; or the space where its bytes lie already; or the write lease,
   * and the space that its writer needs or is writing to. Before anybody finds the node, in its
   * parent's monitor, so that the order in which nodes come under a name is that in which this is
   * decided.
   *
   * @param value what {@link #valueOf} has given
   * @param old the node in whose place it comes, which is destroyed then, or null
   * @throws CrailException with {@link ErrorCode#NO_SPACE} and others; then nothing was taken, but
   *     space that was given ahead may be there no longer
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
          // Other than space that comes with the answer, this may be written to before that.
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
        // Whoever has it may write to it until then, as before.
        storage.releaseGranted(
            granted, new Quarantine.Writer(node.id(), request.token(), clientId));
      } else {
        storage.giveBack(space);
      }
      throw e;
    }
  }

  /** Space for all bytes of a put; else for the first ones, if there is any. */
  private NodeSpace firstSpace(Node node, NewNode request, long clientId) throws CrailException {
    if (request.isPut()) {
      return storage.allocateAll(request.path(), node, request.length(), leases.of(clientId));
    }
    return request.length() == 0
        ? null
        : storage.allocate(node, null, leases.of(clientId), 0, request.length());
  }

  /**
   * Takes space for the value that is put after this one.
   *
   * @param id names it, and no node
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
