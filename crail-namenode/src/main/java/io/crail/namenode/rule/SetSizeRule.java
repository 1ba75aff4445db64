/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.login.Caller;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;

/**
 * Decides which bytes become visible, and when a writer's lease ends. The node of a put takes the
 * place of the one that it is to replace, in one step, with the request that makes its value whole;
 * if the put ends before, its node ends too. Thread-safe.
 */
public final class SetSizeRule {
  private final boolean smallFiles;
  private final State state;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;

  public SetSizeRule(
      NameNodeOptions options, State state, Locks locks, Applier applier, Clock clock) {
    this.smallFiles = options.smallFiles();
    this.state = state;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
  }

  /**
   * Makes bytes visible and, if asked, ends the write lease.
   *
   * @param caller who asks
   * @param committed gets the number of bytes that have become visible
   */
  public NodeInfo setSize(SetSize.Request request, Caller caller, LongConsumer committed)
      throws CrailException {
    Node known = tree.find(request.id());
    if (known == null || tree.isDetached(known)) {
      endLeaseOfRemoved(known, request);
    }
    Node node = tree.require(request.id());
    check(node, request);
    NodeInfo info = null;
    while (info == null) {
      Container parent = Container.of(node);
      // After a rename of the other node this one has the name, and may have been renamed itself.
      info =
          node.isPending()
              ? locks.of(parent, () -> replace(node, parent, request, committed))
              : locks.of(node, () -> decide(node, null, request, committed));
    }
    return info;
  }

  private void check(Node node, SetSize.Request request) throws CrailException {
    Writing.requireBytes(node);
    SmallValue value = request.value();
    if (request.close() > SetSize.EXPIRE || request.size() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": size " + request.size() + ", close " + request.close());
    }
    if (value.length() > 0
        && (!mayBeSmall(node.type())
            || request.close() != SetSize.END
            || request.size() != value.length())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a value of " + value.length() + " bytes for the size " + request.size());
    }
  }

  private boolean mayBeSmall(NodeType type) {
    return type == NodeType.KEYVALUE || (smallFiles && type == NodeType.DATAFILE);
  }

  /** For a node that is to replace another. Returns null when it has done so. */
  private NodeInfo replace(
      Node node, Container parent, SetSize.Request request, LongConsumer committed)
      throws CrailException {
    if (!node.isPending() || node.parent() != parent) {
      return null;
    }
    if (node.isStaged()) {
      return locks.of(node, () -> end(node, request));
    }
    Node present = tree.names().namesake(node);
    if (present == null || tree.pending().of(present) != node) {
      // A later put or a removal came before.
      endLeaseOfRemoved(node, request);
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
    return locks.of(present, () -> locks.of(node, () -> decide(node, present, request, committed)));
  }

  /** Ends bytes that were staged and not used, now or, after a failed write, with the lease. */
  private NodeInfo end(Node staged, SetSize.Request request) throws CrailException {
    if (staged.isRemoved()) {
      endLeaseOfRemoved(staged, request);
    }
    Writing.requirePresent(staged);
    Writing.requireLease(staged, request.token(), state.leases());
    if (request.close() == SetSize.KEEP || request.value().length() > 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(staged + " is staged");
    }
    long now = clock.currentTimeMillis();
    applier.resize(staged, staged.size(), null, request.close(), null, null, now);
    if (request.close() == SetSize.END) {
      applier.endStaged(staged, now);
    }
    return staged.info();
  }

  /**
   * Decides about the bytes of a node.
   *
   * @param present the node that it is to replace; null for none
   */
  private NodeInfo decide(Node node, Node present, SetSize.Request request, LongConsumer committed)
      throws CrailException {
    if (node.isRemoved()) {
      endLeaseOfRemoved(node, request);
    }
    Writing.requirePresent(node);
    Writing.requireLease(node, request.token(), state.leases());
    final long before = present == null ? node.size() : 0;
    SmallValue small = request.value();
    if (small.length() == 0) {
      Writing.requireInSpace(node, request.size());
    }
    long size = Math.max(request.size(), node.size());
    boolean isWhole = present != null && size >= tree.pending().length(present);
    SmallBytes value = small.length() == 0 ? null : takeSmall(node, small);
    boolean cutsOff = request.close() == SetSize.END && value == null;
    applier.resize(
        node,
        size,
        value,
        request.close(),
        cutsOff ? Writing.cutOff(Writing.atSize(node, size), size) : value,
        isWhole ? present : null,
        clock.currentTimeMillis());
    if (present == null || isWhole) {
      committed.accept(node.size() - before);
    }
    if (present != null && !isWhole && request.close() == SetSize.END) {
      applier.dropPending(present, clock.currentTimeMillis());
    }
    return node.info();
  }

  /**
   * Takes memory for a small value in place of a node's content, which must be empty or a smaller
   * small value.
   */
  private SmallBytes takeSmall(Node node, SmallValue value) throws CrailException {
    int length = value.length();
    NodeSpace old = node.space();
    if (length < node.size() || (old != null && old.small() == null && old.size() > 0)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a small value of " + length + " bytes instead of " + node.size());
    }
    SmallBytes before = old == null ? null : old.small();
    SmallBytes kept = state.values().of(length);
    QuotaCharge charge = QuotaCharge.of(Container.quotaOf(node), old);
    charge.requireBytes(length, node);
    if (kept == null || !state.values().take(kept, before)) {
      charge.undo();
      throw state.values().refusal(node, length);
    }
    kept.write(ByteBuffer.wrap(value.bytes()), 0);
    return kept;
  }

  /**
   * The writer of a node that is gone says that all its writes were acknowledged. So its space need
   * not rest. The request is refused all the same.
   *
   * @param node null when the node is not known any more
   */
  private void endLeaseOfRemoved(Node node, SetSize.Request request) {
    if (request.close() != SetSize.END) {
      return;
    }
    if (node != null) {
      locks.of(
          node,
          () -> {
            WriteLease<Node> lease = node.lease();
            if (lease != null && lease.token() == request.token() && lease.isHeld()) {
              // The space will be taken from the node later.
              applier.endLease(node, lease);
              if (node.isStaged() && !node.isRemoved()) {
                // Only its lease would have led to it.
                applier.endStaged(node, clock.currentTimeMillis());
              }
            }
            return null;
          });
    }
    state.space().letGo(request.id(), request.token());
  }
}
