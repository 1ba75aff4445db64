/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.error.CrailException;
import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.cluster.RegisterDatanode;

/**
 * The heap that a namenode has taken for one datanode, its regions and their lists of blocks, but
 * not for extents. Thread-safe.
 */
final class DatanodeHeap {
  /** Bytes of a datanode without regions and texts. */
  private static final long DATANODE = 1024;

  /** Bytes of a region without its lists of blocks. */
  private static final long REGION = 256;

  /**
   * Bytes of an extent ({@code NodeSpace.Allocation}), of its place in a list, and of its rest in
   * the quarantine with the places in the queues there.
   */
  static final long EXTENT =
      Footprint.object(1, 39) + Footprint.object(4, 14) + 6L * Footprint.REFERENCE;

  private final HeapBudget budget;
  private long taken;
  private boolean forgotten;

  /** Takes the heap for a datanode without regions. */
  DatanodeHeap(HeapBudget budget, RegisterDatanode.Description description) throws CrailException {
    long bytes = DATANODE + texts(description);
    budget.require(bytes, 0, "datanode " + description.host() + ":" + description.port());
    this.budget = budget;
    this.taken = bytes;
  }

  private static long texts(RegisterDatanode.Description description) {
    return description.host().length()
        + description.tier().length()
        + description.traits().directory().length()
        + description.traits().details().length();
  }

  /** Another description takes the place of one. */
  void describe(RegisterDatanode.Description old, RegisterDatanode.Description description) {
    add(texts(description) - texts(old));
  }

  /** Takes the heap for a region. */
  synchronized void takeRegion(Object what) throws CrailException {
    budget.require(REGION, 0, what);
    taken += REGION;
  }

  /** Takes the heap for an extent; false when there is none. */
  boolean takeExtent() {
    return budget.take(EXTENT, 0);
  }

  /** Takes the heap for an extent that was admitted before. */
  void addExtent() {
    budget.add(EXTENT);
  }

  /** Gives the heap of an extent back. */
  void giveExtent() {
    budget.give(EXTENT);
  }

  /** Takes heap for lists of blocks; a negative number gives some back. */
  synchronized void add(long bytes) {
    // Extents that have waited may come back to a datanode that is forgotten.
    if (!forgotten) {
      taken += bytes;
      budget.add(bytes);
    }
  }

  /** Gives all back, since the namenode forgets the datanode. */
  synchronized void forget() {
    add(-taken);
    forgotten = true;
  }

  /** Bytes that are taken; for tests. */
  synchronized long taken() {
    return taken;
  }
}
