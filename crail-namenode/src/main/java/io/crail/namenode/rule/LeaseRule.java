/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.RenewLeases;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides who may write to a node. A node has one writer; its lease ends when the writer says so
 * (see {@link SetSizeRule}) or does not renew it. Thread-safe.
 */
public final class LeaseRule {
  private final Tree tree;
  private final LeaseTable<Node> leases;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;

  public LeaseRule(State state, Locks locks, Applier applier, Clock clock) {
    this.tree = state.tree();
    this.leases = state.leases();
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
  }

  /** Gives the write lease to the first client that asks while no client has it. */
  public AcquireLease.Response acquire(AcquireLease.Request request, Caller caller)
      throws CrailException {
    Node node = tree.require(request.id());
    Writing.requireBytes(node);
    if (request.token() == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("write lease 0");
    }
    return locks.of(node, () -> decide(node, request.token(), caller.client()));
  }

  private AcquireLease.Response decide(Node node, long token, long client) throws CrailException {
    Writing.requirePresent(node);
    WriteLease<Node> lease = node.lease();
    if (lease == null) {
      applier.lease(node, leases.grant(node, client, token));
    } else if (lease.token() != token || !lease.isHeld() || !leases.renew(lease)) {
      throw ErrorCode.WRITE_LEASE_HELD.exception(node + holder(lease, client));
    }
    NodeSpace space = node.space();
    SmallBytes small = space == null ? null : space.small();
    if (small != null) {
      return new AcquireLease.Response(node.info(), List.of(), SmallValue.of(small.bytes()));
    }
    int index = space == null ? 0 : space.indexOf(node.size());
    return new AcquireLease.Response(
        node.info(),
        space == null || index == space.count() ? List.of() : List.of(space.at(index).extent()),
        SmallValue.NONE);
  }

  /** Who holds a lease, for the message to a client that asks for it. */
  private static String holder(WriteLease<Node> lease, long client) {
    if (lease.isEnding()) {
      return "; a stream of it ended after a failed write, whose bytes may still arrive until the"
          + " lease ends";
    }
    return lease.client().clientId() == client
        ? "; another stream of this client writes to it"
        : "; another client writes to it";
  }

  /**
   * Renews the write leases that a client names, and returns those that the client has lost. Leases
   * that it does not name run out; so a lease that it does not know of, since the answer was lost,
   * does not last.
   *
   * @param caller who asks; the leases of others are lost to it
   */
  public RenewLeases.Response renew(RenewLeases.Request request, Caller caller) {
    List<RenewLeases.Lost> lost = new ArrayList<>();
    for (int i = 0; i < request.leases().size(); i++) {
      RenewLeases.Lease lease = request.leases().get(i);
      Node node = tree.find(lease.id());
      ErrorCode code =
          node == null || tree.isDetached(node)
              ? ErrorCode.STALE_NODE
              : locks.of(node, () -> renew(node, caller.client(), lease.token()));
      if (code != ErrorCode.OK) {
        lost.add(new RenewLeases.Lost(i, code.number()));
      }
    }
    return new RenewLeases.Response(lost);
  }

  /** Renews a lease that a client still has: OK, or the error that a write gets. */
  private ErrorCode renew(Node node, long client, long token) {
    if (node.isRemoved()) {
      return ErrorCode.STALE_NODE;
    }
    WriteLease<Node> lease = node.lease();
    boolean isHeld =
        lease != null
            && lease.token() == token
            && lease.client().clientId() == client
            && lease.isHeld();
    return isHeld && leases.renew(lease) ? ErrorCode.OK : ErrorCode.WRITE_LEASE_LOST;
  }

  /** Ends a lease that ran out: cuts off the space that no reader sees, seals the last extent. */
  public void expire(WriteLease<Node> lease) {
    Node node = lease.subject();
    locks.of(
        node,
        () -> {
          if (!node.isRemoved() && node.lease() == lease) {
            expire(node, lease);
          }
          return null;
        });
  }

  private void expire(Node node, WriteLease<Node> lease) {
    NodeSpace kept = Writing.cutOff(node.space(), node.size());
    Allocation last = null;
    if (node.isPending()) {
      // A part of it has no reader, and its writer begins again, if ever.
      kept = null;
    } else if (kept != null && kept.small() == null && node.size() < kept.end()) {
      // Late writes of the old writer may hit this extent at any time. So the next writer
      // continues in space with another generation, and no reader looks at the late bytes.
      last = kept.at(kept.count() - 1);
      kept = AllocationList.withLast(kept, last.sealedAt(node.size()));
    }
    applier.expire(node, lease, kept, last, clock.nanoTime());
    if (node.isStaged()) {
      // No reader has ever seen it, and no name leads its writer to it again.
      applier.endStaged(node, clock.currentTimeMillis());
    }
  }
}
