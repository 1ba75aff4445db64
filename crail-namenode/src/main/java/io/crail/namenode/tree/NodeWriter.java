/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.MovingBytes;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallBytes;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The actions of a node's writer: it takes the write lease, gets space, makes bytes visible and
 * leaves. A node has one writer. Readers see the committed size. Every method takes the node's
 * monitor. Thread-safe.
 */
public final class NodeWriter {
  private final Allocator allocator;
  private final NodeStorage storage;
  private final LeaseTable<Node> leases;
  private final Clock clock;

  public NodeWriter(
      Allocator allocator, NodeStorage storage, LeaseTable<Node> leases, Clock clock) {
    this.allocator = allocator;
    this.storage = storage;
    this.leases = leases;
    this.clock = clock;
  }

  /** Gives the write lease to the first client that asks while no client has it. */
  public AcquireLease.Response acquire(Node node, long clientId, long token) throws CrailException {
    requireBytes(node);
    if (token == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("write lease 0");
    }
    synchronized (node) {
      requirePresent(node);
      WriteLease<Node> lease = node.lease();
      if (lease == null) {
        node.lease(leases.grant(node, clientId, token));
      } else if (lease.token() == token && lease.isHeld()) {
        leases.seen(lease);
      } else {
        throw ErrorCode.WRITE_LEASE_HELD.exception(node + holder(lease, clientId));
      }
      NodeSpace space = node.space();
      byte[] small = NodeStorage.small(space);
      if (small != null) {
        return new AcquireLease.Response(node.info(), List.of(), SmallValue.of(small));
      }
      int index = space == null ? 0 : space.indexOf(node.size());
      return new AcquireLease.Response(
          node.info(),
          space == null || index == space.count() ? List.of() : List.of(space.at(index).extent()),
          SmallValue.NONE);
    }
  }

  /** Who holds a lease, for the message to a client that asks for it. */
  private static String holder(WriteLease<Node> lease, long clientId) {
    if (lease.isEnding()) {
      return "; a stream of it ended after a failed write, whose bytes may still arrive until the"
          + " lease ends";
    }
    return lease.client().clientId() == clientId
        ? "; another stream of this client writes to it"
        : "; another client writes to it";
  }

  /** Whether a client still has a write lease: OK, or the error that a write gets. */
  public ErrorCode check(Node node, long clientId, long token) {
    synchronized (node) {
      WriteLease<Node> lease = node.lease();
      if (node.isRemoved()) {
        return ErrorCode.STALE_NODE;
      }
      return lease != null
              && lease.token() == token
              && lease.client().clientId() == clientId
              && lease.isHeld()
          ? ErrorCode.OK
          : ErrorCode.WRITE_LEASE_LOST;
    }
  }

  /**
   * Answers with the extents from a position on, allocating those that the writer wants.
   *
   * @throws CrailException with {@link ErrorCode#NO_SPACE} when there is none at all
   */
  public List<Extent> extend(Node node, Extend.Request request) throws CrailException {
    requireBytes(node);
    if (request.wanted() < 0 || request.size() < -1) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": " + request.wanted() + " bytes wanted, size " + request.size());
    }
    List<Extent> extents = tryExtend(node, request);
    if (extents.isEmpty()) {
      throw storage.noSpace(node, node);
    }
    return extents;
  }

  /** As {@link #extend}; empty when there is no space at all. */
  private List<Extent> tryExtend(Node node, Extend.Request request) throws CrailException {
    synchronized (node) {
      requirePresent(node);
      requireLease(node, request.token());
      node.lease().spaceInUse();
      NodeSpace space = node.space();
      long end = space == null ? 0 : space.end();
      if (request.position() < 0 || request.position() > end) {
        throw ErrorCode.OUT_OF_RANGE.exception(
            node + ": position " + request.position() + ", its space ends at " + end);
      }
      commit(node, request.size(), end);
      // A small value that has moved is now in extents.
      space = node.space();
      int first = space == null ? 0 : space.indexOf(request.position());
      long target = saturatedSum(request.position(), Math.max(request.wanted(), 1));
      while (end < target && (space == null ? 0 : space.count()) - first < Extend.MAX_EXTENTS) {
        Allocation next = storage.allocate(node, space, node.lease().client(), end, target - end);
        if (next == null) {
          break;
        }
        space = space == null ? next : space.with(next);
        node.space(space);
        end = next.fileEnd();
      }
      return space == null
          ? List.of()
          : extents(space, first, Math.min(space.count(), first + Extend.MAX_EXTENTS));
    }
  }

  /**
   * Replaces an extent that a writer could not write to. Writes to it may still arrive, so the
   * extent rests as if its writer had vanished. If it was already replaced and that answer was
   * lost, the answer is the same.
   *
   * @throws CrailException with {@link ErrorCode#NO_SPACE} when there is no space elsewhere; with
   *     {@link ErrorCode#SPACE_PINNED} when the writer must not write there again either
   */
  public List<Extent> replace(Node node, ReplaceExtent.Request request) throws CrailException {
    requireBytes(node);
    if (request.reason() > ReplaceExtent.FULL) {
      throw ErrorCode.INVALID_ARGUMENT.exception(node + ": reason " + request.reason());
    }
    List<Extent> extents = tryReplace(node, request);
    if (extents.isEmpty()) {
      throw storage.noSpace(node, node);
    }
    return extents;
  }

  /** As {@link #replace}; empty when there is no space elsewhere. */
  private List<Extent> tryReplace(Node node, ReplaceExtent.Request request) throws CrailException {
    synchronized (node) {
      requirePresent(node);
      requireLease(node, request.token());
      Extent named = request.extent();
      int index = node.space() == null ? 0 : node.space().indexOf(named.fileOffset());
      if (named.fileOffset() < 0 || node.space() == null || index == node.space().count()) {
        throw ErrorCode.OUT_OF_RANGE.exception(node + ": no space at " + named.fileOffset());
      }
      Allocation present = node.space().at(index);
      if (present.extent().equals(named) && !tryReplace(node, index, request.reason())) {
        return List.of();
      }
      NodeSpace space = node.space();
      int end = index + 1;
      while (end < Math.min(space.count(), index + Extend.MAX_EXTENTS)
          && space.at(end).fileOffset() < named.fileEnd()) {
        end++;
      }
      return extents(space, index, end);
    }
  }

  /** Replaces an extent; false when there is no space elsewhere. Under the node's monitor. */
  private boolean tryReplace(Node node, int index, int reason) throws CrailException {
    NodeSpace space = node.space();
    Allocation present = space.at(index);
    if (space.small() == null && present.fileOffset() < space.size()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": readers see bytes of the extent at " + present.fileOffset());
    }
    WriteLease<Node> lease = node.lease();
    lease.spaceInUse();
    Allocator.Purpose purpose = NodeStorage.purpose(node, space, lease.client());
    NodeSpace others;
    if (reason == ReplaceExtent.PINNED) {
      others = storage.allocateInPlace(purpose, present);
    } else {
      DatanodeSpace unreachable = present.region().datanode();
      allocator.outOfReach(unreachable, lease.client(), reason == ReplaceExtent.FULL);
      // A datanode that is only slow is better than one that cannot be reached.
      boolean lastResort = reason != ReplaceExtent.SILENT;
      others = storage.allocateInPlace(purpose.except(unreachable, lastResort), present);
      if (others == null && unreachable.executesLate()) {
        // Only the same place is of no use.
        others = storage.allocateInPlace(purpose, present);
        if (others == null) {
          throw ErrorCode.SPACE_PINNED.exception(node + ": and there is no other space");
        }
      }
    }
    if (others == null) {
      return false;
    }
    if (space instanceof MovingBytes moving) {
      moving.extents(AllocationList.replacing(moving.extents(), index, others));
    } else {
      node.space(AllocationList.replacing(space, index, others));
    }
    allocator.release(present, lease.endNanos(), NodeStorage.writer(lease), false);
    return true;
  }

  /**
   * Makes bytes visible and, if asked, ends the write lease.
   *
   * @return how many bytes are visible that were not before
   */
  public long setSize(Node node, SetSize.Request request) throws CrailException {
    requireBytes(node);
    SmallValue value = request.value();
    if (request.close() > SetSize.EXPIRE || request.size() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": size " + request.size() + ", close " + request.close());
    }
    if (value.length() > 0
        && (node.type() != NodeType.KEYVALUE
            || request.close() != SetSize.END
            || request.size() != value.length())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a value of " + value.length() + " bytes for the size " + request.size());
    }
    synchronized (node) {
      if (node.isRemoved()) {
        farewell(node, request);
      }
      requirePresent(node);
      WriteLease<Node> lease = node.lease();
      if (wasSaid(node, lease, request)) {
        return 0;
      }
      requireLease(node, request.token());
      long before = node.size();
      NodeSpace space = node.space();
      if (value.length() > 0) {
        keepSmall(node, lease, value);
      } else {
        commit(node, request.size(), space == null ? 0 : space.end());
      }
      if (request.close() == SetSize.END) {
        // All writes were acknowledged, so none is on its way to the extents that are cut off.
        leases.end(lease);
        node.lease(null);
        node.markEnded(request.token());
        node.abandonPut();
        cutOff(node, allocator::giveBack);
      } else if (request.close() == SetSize.EXPIRE) {
        leases.endLater(lease);
      }
      return node.size() - before;
    }
  }

  /**
   * Replaces a node's content, which must be empty or a smaller small value, by a small value. A
   * writer that was refused once writes the value to extents. An earlier copy of its request may
   * come later over another connection and must not take these away. A writer has not written to
   * space that came with the create, but it may be writing to space that it has asked for.
   */
  private void keepSmall(Node node, WriteLease<Node> lease, SmallValue value)
      throws CrailException {
    NodeSpace old = node.space();
    if (value.length() < node.size() || (old != null && old.small() == null && old.size() > 0)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a small value of " + value.length() + " bytes instead of " + node.size());
    }
    if (lease.isValueRefused() || !storage.values().take(value.length(), NodeStorage.small(old))) {
      lease.refuseValue();
      throw storage.values().refusal(node, value.length());
    }
    node.space(new SmallBytes(value.bytes()));
    node.endPut();
    node.touch(clock.currentTimeMillis());
    storage.giveBackSmall(old);
    if (old != null && lease.mayBeWriting()) {
      storage.release(old, lease, false);
    } else {
      storage.giveBack(old);
    }
  }

  /**
   * Handles the close of a writer whose node is gone. With END all its writes were acknowledged, so
   * its space need not rest. The request is refused all the same, and may be sent again.
   *
   * @param node null when the node is not known any more
   */
  public void farewell(Node node, SetSize.Request request) {
    if (request.close() != SetSize.END) {
      return;
    }
    if (node != null) {
      synchronized (node) {
        WriteLease<Node> lease = node.lease();
        if (lease != null && lease.token() == request.token() && lease.isHeld()) {
          // The space will be taken from the node later.
          leases.end(lease);
          node.lease(null);
        }
      }
    }
    allocator.letGo(request.id(), request.token());
  }

  /**
   * True when a writer repeats its close because the answer got lost, and the request is already
   * done. A writer that lost its lease has not closed, even if the size is the one it asks for.
   */
  private static boolean wasSaid(Node node, WriteLease<Node> lease, SetSize.Request request) {
    boolean own = lease != null && lease.token() == request.token();
    switch (request.close()) {
      case SetSize.END:
        return !own && node.wasEnded(request.token()) && request.size() <= node.size();
      case SetSize.EXPIRE:
        return own && lease.isEnding() && request.size() <= node.size();
      default:
        return false;
    }
  }

  /** Ends a lease that ran out: cuts off the uncommitted space, and seals the last extent. */
  public void expire(WriteLease<Node> lease) {
    Node node = lease.subject();
    synchronized (node) {
      if (node.isRemoved() || node.lease() != lease) {
        return;
      }
      node.abandonPut();
      long now = clock.nanoTime();
      Quarantine.Writer writer = NodeStorage.writer(lease);
      Consumer<Allocation> release = extent -> allocator.release(extent, now, writer, false);
      cutOff(node, release);
      NodeSpace space = node.space();
      if (space != null && node.isComing()) {
        // A part of it has no reader, and its writer begins again, if ever.
        for (int i = space.count() - 1; i >= 0; i--) {
          release.accept(space.at(i));
        }
        node.space(null);
      } else if (space != null && space.small() == null && node.size() < space.end()) {
        // Late writes of the old writer may hit this extent at any time. So the next writer
        // continues in space with another generation, and no reader looks at the late bytes.
        Allocation last = space.at(space.count() - 1);
        node.space(AllocationList.withLast(space, last.sealedAt(node.size())));
        allocator.cutOff(last, writer.client());
      }
      node.lease(null);
    }
  }

  /** Takes away a node's lease and space. Called once for each node. */
  public void destroy(Node node) {
    synchronized (node) {
      WriteLease<Node> lease = node.lease();
      NodeSpace space = node.space();
      if (space != null) {
        // The node keeps it, so that a reader that found the node before sees its bytes and not an
        // empty node.
        storage.release(space, lease, lease != null && lease.isHeld());
      }
      storage.giveBackSmall(space);
      if (lease != null) {
        leases.end(lease);
        node.lease(null);
      }
    }
  }

  /** The extents {@code from} (inclusive) to {@code to} (exclusive), for the writer. */
  private static List<Extent> extents(NodeSpace space, int from, int to) {
    List<Extent> extents = new ArrayList<>(Math.max(to - from, 0));
    for (int i = from; i < to; i++) {
      extents.add(space.at(i).extent());
    }
    return extents;
  }

  private void commit(Node node, long size, long end) throws CrailException {
    if (size > end && size > node.size()) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": size " + size + ", its space ends at " + end);
    }
    if (size > node.size()) {
      if (node.space() instanceof MovingBytes moving) {
        NodeSpace extents = moving.extents();
        extents.commit(size);
        node.space(extents);
        storage.giveBackSmall(moving);
      }
      node.commit(size, clock.currentTimeMillis());
    }
  }

  /** Removes the extents that lie completely after the committed size, the last one first. */
  private void cutOff(Node node, Consumer<Allocation> release) {
    NodeSpace space = node.space();
    if (space == null || space.count() == 0) {
      return;
    }
    if (space.small() == null && space.at(space.count() - 1).fileOffset() < node.size()) {
      return;
    }
    int kept = 0;
    if (space.small() != null) {
      // The value stays where it is.
      node.space(new SmallBytes(space.small()));
    } else {
      kept = node.size() == 0 ? 0 : space.indexOf(node.size() - 1) + 1;
      node.space(AllocationList.prefix(space, kept));
    }
    for (int i = space.count() - 1; i >= kept; i--) {
      release.accept(space.at(i));
    }
  }

  private void requireLease(Node node, long token) throws CrailException {
    WriteLease<Node> lease = node.lease();
    if (lease == null || lease.token() != token || !lease.isHeld()) {
      throw ErrorCode.WRITE_LEASE_LOST.exception(node.toString());
    }
    leases.seen(lease);
  }

  private static void requireBytes(Node node) throws CrailException {
    if (node.type().isContainer()) {
      throw ErrorCode.WRONG_TYPE.exception(node + " has no bytes");
    }
  }

  private static void requirePresent(Node node) throws CrailException {
    if (node.isRemoved()) {
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
  }

  private static long saturatedSum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
