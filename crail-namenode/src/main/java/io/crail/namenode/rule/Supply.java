/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.ClientLeases;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.Purpose;
import io.crail.namenode.space.SmallValues;
import io.crail.namenode.tree.Node;
import io.crail.protocol.node.Extend;
import io.crail.protocol.part.Extent;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Takes space of the datanodes and memory for small values for the rules, according to a node's
 * class, host and length. What is taken belongs to the rule until a change gives it to a node.
 * Thread-safe.
 */
public final class Supply {
  private final Allocator allocator;
  private final SmallValues values;

  /** For taking all needed space: together with other threads, or alone. */
  private final ReadWriteLock allOrNothing = new ReentrantReadWriteLock();

  public Supply(State state) {
    this.allocator = state.space();
    this.values = state.values();
  }

  /**
   * The purpose of more space for a node, after what it has. A node that has a host stays together:
   * where that host has no room, the space is on the host of the last extent if possible. So the
   * node is lost with few hosts.
   *
   * @param last the last extent that it has; null for none
   */
  static Purpose purpose(Node node, Allocation last, ClientLeases client) {
    boolean stays = node.host() != HostNames.ANY && last != null;
    int near = stays ? last.datanode().host() : HostNames.ANY;
    long end = last == null ? 0 : last.fileEnd();
    return new Purpose(node.storageClass(), node.isStrict(), node.host(), near, end, client);
  }

  /** The last extent of a space, which may be null; null for none. */
  static Allocation last(NodeSpace space) {
    return space == null || space.count() == 0 ? null : space.at(space.count() - 1);
  }

  /**
   * Takes memory for a small value.
   *
   * @param old the node that it replaces, whose own memory counts as free, and whose monitor is
   *     held; null for none
   */
  boolean takeSmall(SmallBytes value, Node old) {
    NodeSpace space = old == null ? null : old.space();
    return values.take(value, space == null ? null : space.small());
  }

  /**
   * Takes space for all bytes of a put, or for the first bytes after a create if it wants any.
   *
   * @param charge takes as much of the quota
   */
  NodeSpace first(Node node, NewNode request, ClientLeases client, QuotaCharge charge)
      throws CrailException {
    if (request.isPut()) {
      return all(request.path(), node, request.length(), client, charge);
    }
    return request.length() == 0 ? null : next(node, null, client, request.length(), charge);
  }

  /**
   * Takes the next extents of a node.
   *
   * @param space its present space; null for none
   * @param from the index of the first extent that the answer names
   * @param target the position up to which space is wanted
   * @param charge takes as much of the quota
   * @return fewer than wanted, or null for none, if there is no more space, the quota has no room
   *     or the answer is full
   */
  NodeSpace more(
      Node node, NodeSpace space, int from, long target, ClientLeases client, QuotaCharge charge) {
    Allocation last = last(space);
    long end = space == null ? 0 : space.end();
    int count = (space == null ? 0 : space.count()) - from;
    NodeSpace more = null;
    for (; end < target && count < Extend.MAX_EXTENTS; count++) {
      Allocation next = next(node, last, client, target - end, charge);
      if (next == null) {
        break;
      }
      more = AllocationList.taken(more, next);
      last = next;
      end = next.fileEnd();
    }
    return more;
  }

  /**
   * Takes one extent: twice as long as the last one up to a block, or as long as needed.
   *
   * @param last the last extent of the node; null for none
   * @param needed bytes needed after it
   * @return null when there is no space
   */
  private Allocation next(
      Node node, Allocation last, ClientLeases client, long needed, QuotaCharge charge) {
    int block = allocator.blockSize();
    int grown =
        last == null ? Extent.MIN_LENGTH : (int) Math.min(block, 2L * last.allocatedLength());
    int length = Math.min(Math.max(fitting(needed), grown), block);
    return allocate(purpose(node, last, client), length, charge);
  }

  /** Takes an extent, and as much of the quota; a shorter one if that has no room. */
  private Allocation allocate(Purpose purpose, int length, QuotaCharge charge) {
    int allowed = charge.takeExtent(length);
    Allocation extent = allowed == 0 ? null : allocator.allocate(purpose, allowed);
    charge.giveBack(allowed - (extent == null ? 0 : extent.allocatedLength()));
    return extent;
  }

  /** The length of the shortest extent for so many bytes, or of a block. */
  private int fitting(long needed) {
    int block = allocator.blockSize();
    return needed >= block ? block : Extent.lengthFor((int) needed, block);
  }

  /**
   * Takes space for all wanted bytes, or for as many as the extents in one answer can hold. Several
   * threads that do this at once may each get a part, so that none gets enough. So a thread that
   * got too little tries again alone, and finds the space that the others have given back.
   *
   * @param what the owner of the space, for the error
   */
  private NodeSpace all(
      Object what, Node node, long wanted, ClientLeases client, QuotaCharge charge)
      throws CrailException {
    NodeSpace space = all(node, wanted, client, charge, allOrNothing.readLock());
    if (space == null && wanted > 0) {
      space = all(node, wanted, client, charge, allOrNothing.writeLock());
      if (space == null) {
        charge.requireTaken(what);
        throw shortage(what, node);
      }
    }
    return space;
  }

  /** The space, or null when there is too little. */
  private NodeSpace all(
      Node node, long wanted, ClientLeases client, QuotaCharge charge, Lock lock) {
    lock.lock();
    try {
      NodeSpace space = most(node, wanted, client, charge);
      if (space != null && space.end() < wanted && space.count() < Extend.MAX_EXTENTS) {
        giveBack(space);
        charge.giveBack(Quota.bytesOf(space));
        return null;
      }
      return space;
    } finally {
      lock.unlock();
    }
  }

  private NodeSpace most(Node node, long wanted, ClientLeases client, QuotaCharge charge) {
    NodeSpace space = null;
    long end = 0;
    while (end < wanted && (space == null || space.count() < Extend.MAX_EXTENTS)) {
      // No larger than the bytes that will come.
      Allocation next = allocate(purpose(node, last(space), client), fitting(wanted - end), charge);
      if (next == null) {
        return space;
      }
      space = AllocationList.taken(space, next);
      end = next.fileEnd();
    }
    return space;
  }

  /** Takes other space for all bytes of an extent; null when there is too little. */
  NodeSpace inPlaceOf(Allocation extent, Purpose purpose) {
    NodeSpace space = null;
    long end = extent.fileOffset();
    while (end < extent.fileEnd()) {
      int length = Integer.highestOneBit((int) (extent.fileEnd() - end));
      boolean fits = space == null || space.count() < Extend.MAX_EXTENTS;
      Allocation next = fits ? allocator.allocate(purpose.at(end), length) : null;
      if (next == null) {
        giveBack(space);
        return null;
      }
      space = AllocationList.taken(space, next);
      end = next.fileEnd();
    }
    return space;
  }

  /** The error when no space is free, or no heap to note whose it is. */
  CrailException shortage(Object what, Node node) {
    return values.budget().hasRoom(Allocation.FOOTPRINT)
        ? allocator.shortage(what, node.storageClass(), node.isStrict())
        : values.budget().refusal(what);
  }

  /** Gives space back that no node got. */
  private void giveBack(NodeSpace space) {
    for (int i = space == null ? -1 : space.count() - 1; i >= 0; i--) {
      allocator.giveBack(space.at(i));
    }
  }
}
