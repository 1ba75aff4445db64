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
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.Extend;
import io.crail.protocol.part.Extent;
import io.crail.rpc.login.Caller;
import java.util.List;

/** Decides which space a writer gets behind what it has. Thread-safe. */
public final class ExtendRule {
  private final Tree tree;
  private final LeaseTable<Node> leases;
  private final Supply supply;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;

  public ExtendRule(State state, Supply supply, Locks locks, Applier applier, Clock clock) {
    this.tree = state.tree();
    this.leases = state.leases();
    this.supply = supply;
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
  }

  /**
   * Answers with the extents from a position on, and takes those that the writer wants.
   *
   * @param caller who asks
   * @throws CrailException with {@link ErrorCode#NO_SPACE} when there is none at all, and with
   *     {@link ErrorCode#QUOTA_EXCEEDED} when the quota has room for none
   */
  public Extend.Response extend(Extend.Request request, Caller caller) throws CrailException {
    Node node = tree.require(request.id());
    Writing.requireBytes(node);
    if (request.wanted() < 0 || request.size() < -1) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": " + request.wanted() + " bytes wanted, size " + request.size());
    }
    List<Extent> extents = locks.of(node, () -> decide(node, request));
    if (extents.isEmpty()) {
      throw supply.shortage(node, node);
    }
    return new Extend.Response(extents);
  }

  /** Returns no extents, and changes nothing, when there is no space. */
  private List<Extent> decide(Node node, Extend.Request request) throws CrailException {
    Writing.requirePresent(node);
    WriteLease<Node> lease = Writing.requireLease(node, request.token(), leases);
    lease.spaceInUse();
    NodeSpace space = Writing.atSize(node, request.size());
    long end = space == null ? 0 : space.end();
    if (request.position() < 0 || request.position() > end) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": position " + request.position() + ", its space ends at " + end);
    }
    Writing.requireInSpace(node, request.size());
    int first = space == null ? 0 : space.indexOf(request.position());
    long target = saturatedSum(request.position(), Math.max(request.wanted(), 1));
    QuotaCharge charge = QuotaCharge.of(Container.quotaOf(node), null);
    NodeSpace added = supply.more(node, space, first, target, lease.client(), charge);
    int count = (space == null ? 0 : space.count()) + (added == null ? 0 : added.count());
    if (count == first) {
      charge.requireTaken(node);
      return List.of();
    }
    if (added != null || request.size() > node.size()) {
      applier.extend(node, request.size(), added, clock.currentTimeMillis());
    }
    return Writing.extents(node.space(), first, Math.min(count, first + Extend.MAX_EXTENTS));
  }

  private static long saturatedSum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
