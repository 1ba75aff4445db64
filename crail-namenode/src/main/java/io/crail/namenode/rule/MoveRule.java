/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.Purpose;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.RestingMoves;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.part.Place;
import io.crail.rpc.login.Caller;

/**
 * Decides which extents clients may move to other datanodes: space is granted for a copy, and the
 * finished copy takes the place of the extent. Committed bytes of an extent never change, and
 * without a writer no byte is added. So a copy is good if, when it is finished, the node has no
 * writer and still has the same extent with the same number of bytes. Thread-safe.
 */
public final class MoveRule {
  private final Tree tree;
  private final Allocator allocator;
  private final RestingMoves moves;
  private final Locks locks;
  private final Applier applier;

  public MoveRule(State state, Locks locks, Applier applier) {
    this.tree = state.tree();
    this.allocator = state.space();
    this.moves = state.moves();
    this.locks = locks;
    this.applier = applier;
  }

  /**
   * Grants space for a copy of an extent.
   *
   * @param caller who asks
   * @throws CrailException with {@link ErrorCode#WRITE_LEASE_HELD} when the node is being written;
   *     with {@link ErrorCode#STALE_EXTENT} when the node has no such extent; with {@link
   *     ErrorCode#NO_SPACE} when no other datanode of the storage class has space for it; with
   *     {@link ErrorCode#UNAVAILABLE} when the named datanode is not well, or takes no data; with
   *     {@link ErrorCode#LIMIT_EXCEEDED} when too many moved extents rest
   */
  public BeginMove.Response begin(BeginMove.Request request, Caller caller) throws CrailException {
    if (moves.isFull()) {
      throw ErrorCode.LIMIT_EXCEEDED.exception("moved extents that rest for a lease");
    }
    Node node = tree.require(request.id());
    return locks.of(node, () -> grant(node, request, caller.client()));
  }

  private BeginMove.Response grant(Node node, BeginMove.Request request, long client)
      throws CrailException {
    int index = requireMovable(node, request.fileOffset(), request.place());
    Allocation present = node.space().at(index);
    Purpose purpose = purpose(node, present);
    Allocation target = allocator.takeForCopy(purpose, request.datanode(), present);
    if (target == null && !allocator.isWell(request.datanode(), purpose.storageClass())) {
      throw ErrorCode.UNAVAILABLE.exception(
          node + ": datanode " + request.datanode() + " takes no data now");
    }
    if (target == null) {
      throw ErrorCode.NO_SPACE.exception(
          node
              + ": no other datanode of storage class "
              + purpose.storageClass()
              + " has "
              + present.allocatedLength()
              + " bytes free in one piece");
    }
    long grant = tree.newId();
    applier.grant(
        target,
        new Quarantine.Grant(
            grant, request.token(), client, purpose.storageClass(), purpose.host()));
    return new BeginMove.Response(grant, bytes(node.space(), present), target.place());
  }

  /**
   * Puts a copy in the place of the extent.
   *
   * @param caller who asks
   * @throws CrailException as in {@link #begin}; with {@link ErrorCode#WRITE_LEASE_LOST} when the
   *     space is granted no longer
   */
  public CommitMove.Response commit(CommitMove.Request request, Caller caller)
      throws CrailException {
    try {
      Node node = tree.require(request.id());
      locks.of(
          node,
          () -> {
            commit(node, request);
            return null;
          });
      return new CommitMove.Response();
    } catch (CrailException e) {
      // No write to it is on its way, as the client says.
      allocator.letGo(request.grant(), request.token());
      throw e;
    }
  }

  /** Under the node's monitor. */
  private void commit(Node node, CommitMove.Request request) throws CrailException {
    int index = requireMovable(node, request.fileOffset(), request.place());
    NodeSpace space = node.space();
    Allocation present = space.at(index);
    if (bytes(space, present) != request.bytes()) {
      throw ErrorCode.STALE_EXTENT.exception(
          node
              + ": has "
              + bytes(space, present)
              + " bytes at "
              + present.fileOffset()
              + ", and "
              + request.bytes()
              + " were copied");
    }
    Allocation target = allocator.granted(request.grant(), request.token());
    if (target != null && target.fileOffset() != present.fileOffset()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": space that was granted for something else");
    }
    if (target != null && target.fileEnd() != present.fileEnd()) {
      throw ErrorCode.STALE_EXTENT.exception(node + ": sealed at " + present.fileEnd());
    }
    // Last, since it may have become another's meanwhile.
    target =
        allocator.takeGranted(
            request.grant(), request.token(), purpose(node, present), request.bytes());
    if (target == null) {
      throw ErrorCode.WRITE_LEASE_LOST.exception(node + ": the space for a copy");
    }
    applier.move(node, index, target, new Moved(node, present, target, request.bytes()));
  }

  /** A move whose former extent still holds the bytes. */
  private final class Moved extends RestingMoves.Move {
    private final Node node;
    private final int bytes;

    Moved(Node node, Allocation from, Allocation to, int bytes) {
      super(from, to);
      this.node = node;
      this.bytes = bytes;
    }

    @Override
    protected Undone undo() {
      return locks.of(node, this::moveBack);
    }

    private Undone moveBack() {
      NodeSpace space = node.space();
      int index = space == null ? 0 : space.indexOf(to().fileOffset());
      if (node.isRemoved() || space == null || index == space.count()) {
        return Undone.NEEDLESS;
      }
      Allocation present = space.at(index);
      if (!present.isIn(to())) {
        return Undone.NEEDLESS;
      }
      if (node.lease() != null) {
        return Undone.NOT_NOW;
      }
      if (bytes(space, present) != bytes) {
        return Undone.NEEDLESS;
      }
      // It may have been sealed since.
      boolean ends = present.fileEnd() < from().fileEnd();
      applier.moveBack(node, index, ends ? from().sealedAt(present.fileEnd()) : from());
      return Undone.DONE;
    }
  }

  /**
   * The index of an extent without a writer. Under the node's monitor.
   *
   * @param place where it is, as the client knows it
   */
  private static int requireMovable(Node node, long fileOffset, Place place) throws CrailException {
    if (node.type().isContainer()) {
      throw ErrorCode.WRONG_TYPE.exception(node + " has no bytes");
    }
    if (node.isRemoved()) {
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
    WriteLease<Node> lease = node.lease();
    if (lease != null) {
      throw ErrorCode.WRITE_LEASE_HELD.exception(
          node + ", client " + Long.toHexString(lease.client().clientId()));
    }
    NodeSpace space = node.space();
    int index = space == null ? 0 : space.indexOf(fileOffset);
    if (space == null
        || index == space.count()
        || !space.at(index).isAt(fileOffset, place)
        || bytes(space, space.at(index)) <= 0) {
      throw ErrorCode.STALE_EXTENT.exception(node + " at " + fileOffset);
    }
    return index;
  }

  /** The number of bytes of an extent that readers see. */
  private static int bytes(NodeSpace space, Allocation extent) {
    return (int) (Math.min(extent.fileEnd(), space.size()) - extent.fileOffset());
  }

  /** The bytes stay in their storage class, and on the node's host where possible. */
  private static Purpose purpose(Node node, Allocation present) {
    Purpose usual = Supply.purpose(node, Supply.last(node.space()), null);
    int storageClass = present.datanode().storageClass();
    return new Purpose(
        storageClass,
        true,
        usual.host(),
        usual.near(),
        present.fileOffset(),
        null,
        present.datanode(),
        false);
  }
}
