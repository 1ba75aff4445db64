/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Finds space that has two owners. The space of nodes, waiting space and free space are noted here,
 * unit by unit. For tests. Not thread-safe.
 */
public final class SpaceAudit {
  private final int blockSize;
  private final Map<RegionSpace, BitSet> owned = new IdentityHashMap<>();

  public SpaceAudit(int blockSize) {
    this.blockSize = blockSize;
  }

  /** Notes an extent and its owner. */
  public void owned(Allocation extent, Object owner) {
    if (extent.generation() <= 0 || extent.generation() > extent.region().generation()) {
      throw new AssertionError(
          owner + " has generation " + extent.generation() + ", which was not given out");
    }
    mark(extent.region(), extent.regionOffset(), extent.allocatedLength(), owner);
  }

  /** Notes free space. */
  void free(RegionSpace region, long regionOffset, long length) {
    mark(region, regionOffset, length, "free space");
  }

  /** Fails if a part of a region has no owner. */
  void requireWhole(RegionSpace region) {
    long units = region.blocks() * (long) (blockSize / Extent.MIN_LENGTH);
    int found = owned.computeIfAbsent(region, any -> new BitSet()).cardinality();
    if (found != units) {
      throw new AssertionError(
          (units - found)
              + " units of region "
              + region.index()
              + " of "
              + region.datanode()
              + " have no owner");
    }
  }

  private void mark(RegionSpace region, long regionOffset, long length, Object owner) {
    BitSet units = owned.computeIfAbsent(region, any -> new BitSet());
    int first = (int) (regionOffset / Extent.MIN_LENGTH);
    int end = (int) ((regionOffset + length) / Extent.MIN_LENGTH);
    int taken = units.nextSetBit(first);
    if (taken >= 0 && taken < end) {
      throw new AssertionError(
          owner
              + " has unit "
              + taken
              + " of region "
              + region.index()
              + " of "
              + region.datanode()
              + ", which somebody else has");
    }
    units.set(first, end);
  }
}
