/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.ClientLeases;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallValues;
import io.crail.protocol.node.Extend;
import io.crail.protocol.part.Extent;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Where the bytes of nodes go: takes space from the store, and memory for small values, as a node's
 * class, host and length ask for, and gives both back. Knows nothing of who may write. Thread-safe.
 */
public final class NodeStorage {
  private final Allocator allocator;
  private final SmallValues values;

  /** For taking all space that is needed: beside others, or alone. */
  private final ReadWriteLock allOrNothing = new ReentrantReadWriteLock();

  public NodeStorage(Allocator allocator, SmallValues values) {
    this.allocator = allocator;
    this.values = values;
  }

  /** The account of small values. */
  SmallValues values() {
    return values;
  }

  static Allocator.Purpose purpose(Node node, ClientLeases<Node> client) {
    return new Allocator.Purpose(node.storageClass(), node.isStrict(), node.host(), client);
  }

  static byte[] small(NodeSpace space) {
    return space == null ? null : space.small();
  }

  /** Takes memory for a value in the place of a node, whose writer may give its own back. */
  boolean takeSmall(int length, Node old) {
    if (old == null) {
      return values.take(length, null);
    }
    synchronized (old) {
      return values.take(length, small(old.space()));
    }
  }

  /** Gives the memory of a small value back; of anything else nothing. */
  void giveBackSmall(NodeSpace space) {
    byte[] small = small(space);
    if (small != null) {
      values.giveBack(small.length);
    }
  }

  /**
   * Takes the extent that follows those that a node has, twice as long as the last one up to a
   * block, or as long as is needed.
   *
   * @param space what it has; null for nothing
   * @param end where that ends
   * @param needed bytes after it
   * @return null when there is no space
   */
  Allocation allocate(
      Node node, NodeSpace space, ClientLeases<Node> client, long end, long needed) {
    int block = allocator.blockSize();
    int grown =
        space == null || space.count() == 0
            ? Extent.MIN_LENGTH
            : (int) Math.min(block, 2L * space.at(space.count() - 1).allocatedLength());
    int fitting = needed >= block ? block : Math.max(Extent.lengthFor((int) needed, block), grown);
    int length = Math.min(fitting, block);
    return allocator.allocate(purpose(node, client), end, length);
  }

  /**
   * All space for the bytes that are wanted, as far as one answer has extents for it. Of those who
   * take as much at once each may get a part of what one of them needs, or nothing because of it.
   * So whoever got too little tries again alone, and finds what the others have let go.
   *
   * @param what whose space
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

  /** The space, or null where there is less. */
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
      // As if each were the first: no larger than what is known to come.
      Allocation next = allocate(node, null, client, end, wanted - end);
      if (next == null) {
        return space;
      }
      space = space == null ? next : space.with(next);
      end = next.fileEnd();
    }
    return space;
  }

  /** Other space for all bytes of an extent; null when there is too little. */
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

  CrailException noSpace(Object what, Node node) {
    return ErrorCode.NO_SPACE.exception(
        what
            + (node.isStrict() ? ": strictly from storage class " : ": from storage class ")
            + node.storageClass()
            + allocator.prospect(node.storageClass(), node.isStrict()));
  }

  /** Gives back extents that nobody was told of, or that nobody writes to any more. */
  void giveBack(NodeSpace space) {
    for (int i = space == null ? -1 : space.count() - 1; i >= 0; i--) {
      allocator.giveBack(space.at(i));
    }
  }

  /**
   * Takes extents that were written, or may be, under a lease; null for none.
   *
   * @param maySay whether its holder can still say that it writes no more
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

  /**
   * Takes an extent for the next value that is put as a node was.
   *
   * @param id names it, and no node
   * @param token whose it is
   * @param client who may write to it, and what leases that has
   * @return null when there is none to spare
   */
  Extent grant(
      Node node, long id, long token, long clientId, ClientLeases<Node> client, int bytes) {
    if (bytes > allocator.blockSize()) {
      return null;
    }
    Allocation extent =
        allocator.grant(
            new Quarantine.Grant(
                id, token, clientId, node.storageClass(), node.isStrict(), node.host()),
            client,
            Extent.lengthFor(bytes, allocator.blockSize()));
    return extent == null ? null : extent.extent();
  }

  /** Takes the extent that was given for the bytes of a new node; null when that is gone. */
  Allocation takeGranted(Node node, long grant, long token, long bytes) {
    return allocator.takeGranted(grant, token, purpose(node, null), bytes);
  }

  /** Gives such an extent back, which its writer may be writing to. */
  void releaseGranted(Allocation extent, Quarantine.Writer writer) {
    allocator.releaseGranted(extent, writer);
  }
}
