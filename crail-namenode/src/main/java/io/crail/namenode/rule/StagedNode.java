/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.query.DatanodeReports;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.protocol.part.CompoundStep;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The node whose bytes a list may link, if it is there. Which node that is, is known before the
 * steps are performed, since its lock is taken before. Under the lock of its parent.
 */
final class StagedNode {
  /** For a list that links nothing. */
  static final StagedNode NONE = new StagedNode(null, false, null, null);

  private final Node node;
  private final boolean isPutUnderWay;
  private final LeaseTable<Node> leases;
  private final DatanodeReports datanodes;

  private StagedNode(
      Node node, boolean isPutUnderWay, LeaseTable<Node> leases, DatanodeReports datanodes) {
    this.node = node;
    this.isPutUnderWay = isPutUnderWay;
    this.leases = leases;
    this.datanodes = datanodes;
  }

  /**
   * Finds the node that a list names.
   *
   * @param parent the container that the list's path leads to, whose lock is held
   * @param present the node that has the name, whose lock is held too; null for none
   */
  static StagedNode of(
      List<CompoundStep> steps,
      State state,
      DatanodeReports datanodes,
      Container parent,
      Node present,
      PathBytes path)
      throws CrailException {
    CompoundStep link = first(steps);
    Node node = link == null ? null : state.tree().find(link.number());
    if (node == null || !node.isStaged() || node.isRemoved()) {
      return NONE;
    }
    // So only lists of this path lock it, and always after the node that has the name.
    if (!node.isNamed(parent, path.bytes(), path.nameStart(), path.end())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": bytes that are staged for " + node.path());
    }
    boolean isPutUnderWay = present != null && state.tree().pending().of(present) != null;
    return new StagedNode(node, isPutUnderWay, state.leases(), datanodes);
  }

  private static CompoundStep first(List<CompoundStep> steps) {
    for (CompoundStep step : steps) {
      if (step.kind() == StepKind.LINK.number()) {
        return step;
      }
    }
    return null;
  }

  /** Refuses a list that links several nodes, since it holds the lock of one. */
  static void requireOne(List<CompoundStep> steps) throws CrailException {
    CompoundStep first = first(steps);
    for (CompoundStep step : steps) {
      if (step.kind() == StepKind.LINK.number() && step.number() != first.number()) {
        throw ErrorCode.INVALID_ARGUMENT.exception("a list that links several staged nodes");
      }
    }
  }

  /** The node; null for none. */
  Node node() {
    return node;
  }

  /** What is left of its space when that behind the bytes is cut off. */
  NodeSpace kept(long length) {
    return Writing.cutOff(node.space(), length);
  }

  /**
   * How many bytes a step links. Under the lock of the node. Whoever knows the token is the writer,
   * whose lease is renewed, also when the list fails.
   *
   * @throws CrailException with {@link ErrorCode#STALE_NODE}, {@link ErrorCode#WRITE_LEASE_LOST},
   *     {@link ErrorCode#DATA_LOST} or {@link ErrorCode#UNAVAILABLE} when the bytes are not there,
   *     or no longer; with {@link ErrorCode#CONDITION_FAILED} when a put would be lost
   */
  long require(CompoundStep step) throws CrailException {
    if (step.length() < CompoundStep.LINK_WHOLE || step.length() > CompoundStep.LINK_SAME) {
      throw ErrorCode.INVALID_ARGUMENT.exception("form " + step.length() + " of a link");
    }
    byte[] data = step.data().bytes();
    if (data.length != 2 * Long.BYTES) {
      throw ErrorCode.INVALID_ARGUMENT.exception("token and length of " + data.length + " bytes");
    }
    if (node == null || node.id() != step.number() || node.isRemoved()) {
      throw ErrorCode.STALE_NODE.exception("staged bytes, node " + step.number());
    }
    ByteBuffer values = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    Writing.requireLease(node, values.getLong(0), leases);
    long length = values.getLong(Long.BYTES);
    NodeSpace space = node.space();
    if (length <= 0 || length < node.size() || space == null || length > space.end()) {
      throw ErrorCode.OUT_OF_RANGE.exception(length + " bytes of " + node);
    }
    requireHolders(space);
    if (step.length() == CompoundStep.LINK_SAME && isPutUnderWay) {
      throw ErrorCode.CONDITION_FAILED.exception("a put is under way");
    }
    return length;
  }

  /** So that bytes which are known to be lost replace no others. */
  private void requireHolders(NodeSpace space) throws CrailException {
    for (int i = 0; i < space.count(); i++) {
      DatanodeSpace datanode = space.at(i).datanode();
      if (datanode.isGone()) {
        throw ErrorCode.DATA_LOST.exception(datanode + " has ended");
      }
      if (!datanodes.isOnline(datanode)) {
        throw ErrorCode.UNAVAILABLE.exception(datanode.toString());
      }
    }
  }
}
