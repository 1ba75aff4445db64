/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.namenode.lease.ClientLeases;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallValues;
import io.crail.protocol.node.Extend;
import io.crail.protocol.part.Extent;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Space for the bytes of nodes: takes space from the store and memory for small values, according
 * to a node's class, host and length, and gives both back. Does not know who may write.
 * Thread-safe.
 */
public final class NodeStorage {
  private final Allocator allocator;
  private final SmallValues values;

  /** For taking all needed space: together with other threads, or alone. */
  private final ReadWriteLock allOrNothing = new ReentrantReadWriteLock();

  public NodeStorage(Allocator allocator, SmallValues values) {
    this.allocator = allocator;
    this.values = values;
  }

  /** The account of small values. */
  SmallValues values() {
    return values;
  }

  /**
   * The purpose of more space for a node. A node that has a host stays together: where that host
   * has no room, the space is on the host of the last extent if possible. So the node is lost with
   * few hosts.
   *
   * @param space what it has; null for none
   */
  static Allocator.Purpose purpose(Node node, NodeSpace space, ClientLeases<Node> client) {
    boolean stays = node.host() != HostNames.ANY && space != null && space.count() > 0;
    int near = stays ? space.at(space.count() - 1).region().datanode().host() : HostNames.ANY;
    return new Allocator.Purpose(node.storageClass(), node.isStrict(), node.host(), near, client);
  }

  static byte[] small(NodeSpace space) {
    return space == null ? null : space.small();
  }

  /** Takes memory for a value that replaces a node, whose own memory counts as free. */
  boolean takeSmall(int length, Node old) {
    if (old == null) {
      return values.take(length, null);
    }
    synchronized (old) {
      return values.take(length, small(old.space()));
    }
  }

  /** Gives the memory of a small value back. Does nothing for other space. */
  void giveBackSmall(NodeSpace space) {
    byte[] small = small(space);
    if (small != null) {
      values.giveBack(small.length);
    }
  }

  /**
   * Takes the next extent of a node: twice as long as the last one up to a block, or as long as
   * needed.
   *
   * @param space the node's present space; null for none
   * @param end the end of that space
   * @param needed bytes needed after that
   * @return null when there is no space
   */
  Allocation allocate(
      Node node, NodeSpace space, ClientLeases<Node> client, long end, long needed) {
    int block = allocator.blockSize();
    int grown =
        space == null || space.count() == 0
            ? Extent.MIN_LENGTH
            : (int) Math.min(block, 2L * space.at(space.count() - 1).allocatedLength());
    return allocator.allocate(
        purpose(node, space, client), end, Math.min(Math.max(fitting(needed), grown), block));
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
  NodeSpace allocateAll(Object what, Node node, long wanted, ClientLeases<Node> client)
      throws CrailException {
    NodeSpace space = allocateAll(node, wanted, client, allOrNothing.readLock());
    if (space == null && wanted > 0) {
      space = allocateAll(node, wanted, client, allOrNothing.writeLock());
      if (space == null) {
        throw noSpace(what, node);
      }
    }
    return space;
  }

  /** The space, or null when there is too little. */
  private NodeSpace allocateAll(Node node, long wanted, ClientLeases<Node> client, Lock lock) {
    lock.lock();
    try {
      NodeSpace space = allocateMost(node, wanted, client);
      if (space != null && space.end() < wanted && space.count() < Extend.MAX_EXTENTS) {
        giveBack(space);
        return null;
      }
      return space;
    } finally {
      lock.unlock();
    }
  }

  private NodeSpace allocateMost(Node node, long wanted, ClientLeases<Node> client) {
    NodeSpace space = null;
    long end = 0;
    while (end < wanted && (space == null || space.count() < Extend.MAX_EXTENTS)) {
      // No larger than the bytes that will come.
      Allocation next =
          allocator.allocate(purpose(node, space, client), end, fitting(wanted - end));
      if (next == null) {
        return space;
      }
      space = space == null ? next : space.with(next);
      end = next.fileEnd();
    }
    return space;
  }

  /** Takes other space for all bytes of an extent; null when there is too little. */
  NodeSpace allocateInPlace(Allocator.Purpose purpose, Allocation extent) {
    NodeSpace space = null;
    long end = extent.fileOffset();
    while (end < extent.fileEnd()) {
      int length = Integer.highestOneBit((int) (extent.fileEnd() - end));
      boolean fits = space == null || space.count() < Extend.MAX_EXTENTS;
      Allocation next = fits ? allocator.allocate(purpose, end, length) : null;
      if (next == null) {
        giveBack(space);
        return null;
      }
      space = space == null ? next : space.with(next);
      end = next.fileEnd();
    }
    return space;
  }

  /** The error when no space is free, or no heap to note whose it is. */
  CrailException noSpace(Object what, Node node) {
    return values.budget().hasRoom(Allocation.FOOTPRINT)
        ? allocator.shortage(what, node.storageClass(), node.isStrict())
        : values.budget().refusal(what);
  }

  /** Gives back extents that no client was told of, or that no client writes to any more. */
  void giveBack(NodeSpace space) {
    for (int i = space == null ? -1 : space.count() - 1; i >= 0; i--) {
      allocator.giveBack(space.at(i));
    }
  }

  /**
   * Takes back extents that may have been written under a lease, which is null for none.
   *
   * @param maySay whether the holder can still report that it writes no more
   */
  void release(NodeSpace space, WriteLease<Node> lease, boolean maySay) {
    Quarantine.Writer writer = lease == null ? null : writer(lease);
    long leaseEndNanos = lease == null ? 0 : lease.endNanos();
    for (int i = space.count() - 1; i >= 0; i--) {
      allocator.release(space.at(i), leaseEndNanos, writer, maySay);
    }
  }

  static Quarantine.Writer writer(WriteLease<Node> lease) {
    return new Quarantine.Writer(lease.subject().id(), lease.token(), lease.client().clientId());
  }
}
