/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.MovingBytes;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Node;
import io.crail.protocol.part.Extent;
import java.util.ArrayList;
import java.util.List;

/** What all requests of writers have in common. Under the monitor of the node. Stateless. */
final class Writing {
  private Writing() {}

  static void requireBytes(Node node) throws CrailException {
    if (node.type().isContainer()) {
      throw ErrorCode.WRONG_TYPE.exception(node + " has no bytes");
    }
  }

  static void requirePresent(Node node) throws CrailException {
    if (node.isRemoved()) {
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
  }

  /** The lease of a writer. Notes that the writer is alive. */
  static WriteLease<Node> requireLease(Node node, long token, LeaseTable<Node> leases)
      throws CrailException {
    WriteLease<Node> lease = node.lease();
    if (lease == null || lease.token() != token || !lease.isHeld() || !leases.renew(lease)) {
      throw ErrorCode.WRITE_LEASE_LOST.exception(node.toString());
    }
    return lease;
  }

  /** Refuses a size that is behind the space of a node. */
  static void requireInSpace(Node node, long size) throws CrailException {
    long end = node.space() == null ? 0 : node.space().end();
    if (size > end && size > node.size()) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": size " + size + ", its space ends at " + end);
    }
  }

  /** The space that a node has once a size is visible to readers. */
  static NodeSpace atSize(Node node, long size) {
    NodeSpace space = node.space();
    return size > node.size() && space instanceof MovingBytes moving ? moving.extents() : space;
  }

  /**
   * What is left of a space without the extents that are completely behind a size. It is the same
   * object if there are none.
   */
  static NodeSpace cutOff(NodeSpace space, long size) {
    if (space == null || space.count() == 0) {
      return space;
    }
    if (space.small() != null) {
      // The value stays where it is.
      return space.small();
    }
    if (space.at(space.count() - 1).fileOffset() < size) {
      return space;
    }
    return AllocationList.prefix(space, size == 0 ? 0 : space.indexOf(size - 1) + 1, size);
  }

  /**
   * Some extents of a space, for its writer.
   *
   * @param from the index of the first one
   * @param to the index after the last one
   */
  static List<Extent> extents(NodeSpace space, int from, int to) {
    List<Extent> extents = new ArrayList<>(Math.max(to - from, 0));
    for (int i = from; i < to; i++) {
      extents.add(space.at(i).extent());
    }
    return extents;
  }
}
