/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds space that has two owners, or none: all extents and all free space are noted here, unit by
 * unit. For tests. Not thread-safe.
 */
public final class SpaceAudit {
  private final int blockSize;
  private final Map<Key, Region> regions = new HashMap<>();

  /** A region of a datanode; two datanodes are equal only if they are the same object. */
  private record Key(Object datanode, int region) {}

  public SpaceAudit(int blockSize) {
    this.blockSize = blockSize;
  }

  /** What is noted of a region. */
  Region region(Object datanode, int region) {
    return regions.computeIfAbsent(new Key(datanode, region), Region::new);
  }

  /** What is noted of one region. */
  final class Region {
    private final Key key;
    private final BitSet units = new BitSet();

    private Region(Key key) {
      this.key = key;
    }

    /** Notes free space. */
    void free(long regionOffset, long length) {
      owned(regionOffset, length, "free space");
    }

    /** Notes space and its owner. */
    void owned(long regionOffset, long length, Object owner) {
      int first = (int) (regionOffset / Extent.MIN_LENGTH);
      int end = (int) ((regionOffset + length) / Extent.MIN_LENGTH);
      int taken = units.nextSetBit(first);
      if (taken >= 0 && taken < end) {
        throw new AssertionError(
            owner + " has unit " + taken + " of " + this + ", which has another owner");
      }
      units.set(first, end);
    }

    /** Fails if a part of the region has no owner. */
    void requireWhole(int blocks) {
      long missing = blocks * (long) (blockSize / Extent.MIN_LENGTH) - units.cardinality();
      if (missing != 0) {
        throw new AssertionError(missing + " units of " + this + " have no owner");
      }
    }

    @Override
    public String toString() {
      return "region " + key.region + " of " + key.datanode;
    }
  }
}
