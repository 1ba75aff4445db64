/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.Purpose;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.part.Extent;
import io.crail.rpc.login.Caller;
import java.util.List;

/**
 * Decides which space a writer gets in place of an extent that it could not write to. Writes to
 * that may still arrive, so the extent rests as if its writer had vanished. If another operation of
 * the writer has had it replaced, the answer is what is there now. Thread-safe.
 */
public final class ReplaceExtentRule {
  private final Tree tree;
  private final Allocator allocator;
  private final LeaseTable<Node> leases;
  private final Supply supply;
  private final Locks locks;
  private final Applier applier;

  public ReplaceExtentRule(State state, Supply supply, Locks locks, Applier applier) {
    this.tree = state.tree();
    this.allocator = state.space();
    this.leases = state.leases();
    this.supply = supply;
    this.locks = locks;
    this.applier = applier;
  }

  /**
   * Replaces an extent.
   *
   * @param caller who asks
   * @throws CrailException with {@link ErrorCode#NO_SPACE} when there is no space elsewhere; with
   *     {@link ErrorCode#SPACE_PINNED} when the writer must not write there again either
   */
  public Extend.Response replace(ReplaceExtent.Request request, Caller caller)
      throws CrailException {
    Node node = tree.require(request.id());
    Writing.requireBytes(node);
    if (request.reason() > ReplaceExtent.FULL) {
      throw ErrorCode.INVALID_ARGUMENT.exception(node + ": reason " + request.reason());
    }
    List<Extent> extents = locks.of(node, () -> decide(node, request));
    if (extents.isEmpty()) {
      throw supply.shortage(node, node);
    }
    return new Extend.Response(extents);
  }

  /** Returns no extents when there is no space elsewhere. */
  private List<Extent> decide(Node node, ReplaceExtent.Request request) throws CrailException {
    Writing.requirePresent(node);
    final WriteLease<Node> lease = Writing.requireLease(node, request.token(), leases);
    long from = request.fileOffset();
    int index = node.space() == null ? 0 : node.space().indexOf(from);
    if (from < 0 || node.space() == null || index == node.space().count()) {
      throw ErrorCode.OUT_OF_RANGE.exception(node + ": no space at " + from);
    }
    Allocation present = node.space().at(index);
    if (present.isAt(from, request.place())) {
      NodeSpace others = others(node, present, lease, request.reason());
      if (others == null) {
        return List.of();
      }
      applier.exchange(node, index, others);
    }
    NodeSpace space = node.space();
    int end = index + 1;
    while (end < Math.min(space.count(), index + Extend.MAX_EXTENTS)
        && space.at(end).fileOffset() < from + request.length()) {
      end++;
    }
    return Writing.extents(space, index, end);
  }

  /** Takes other space for an extent; null when there is none elsewhere. */
  private NodeSpace others(Node node, Allocation present, WriteLease<Node> lease, int reason)
      throws CrailException {
    NodeSpace space = node.space();
    if (space.small() == null && present.fileOffset() < space.size()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": readers see bytes of the extent at " + present.fileOffset());
    }
    lease.spaceInUse();
    Purpose purpose = Supply.purpose(node, Supply.last(space), lease.client());
    if (reason == ReplaceExtent.PINNED) {
      return supply.inPlaceOf(present, purpose);
    }
    DatanodeSpace unreachable = present.datanode();
    allocator.outOfReach(unreachable, lease.client(), reason == ReplaceExtent.FULL);
    // A datanode that is only slow is better than one that cannot be reached.
    boolean lastResort = reason != ReplaceExtent.SILENT;
    NodeSpace others = supply.inPlaceOf(present, purpose.except(unreachable, lastResort));
    if (others == null && unreachable.executesLate()) {
      // Only the same place is of no use.
      others = supply.inPlaceOf(present, purpose);
      if (others == null) {
        throw ErrorCode.SPACE_PINNED.exception(node + ": and there is no other space");
      }
    }
    return others;
  }
}
