/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.protocol.part.Extent;

/**
 * A block that is given out in pieces: a buddy allocator over its units of 4 KiB. It exists only
 * while the block is neither wholly free nor given out as a whole.
 *
 * <p>A heap-shaped tree holds for each aligned run of units the largest piece that is free in it,
 * as its order plus one, or 0 for nothing; order 0 is one unit. Freeing a piece merges it with its
 * buddy on the way up. Not thread-safe: used under the monitor of its {@link DatanodeSpace}.
 */
final class SplitBlock {
  private final int region;
  private final int block;
  private final int units;
  private final byte[] tree;

  // Links of its datanode's list of blocks with a largest piece of the same order.
  private SplitBlock previous;
  private SplitBlock next;

  /** Creates a block all of whose units are free. */
  SplitBlock(int region, int block, int maxOrder) {
    this.region = region;
    this.block = block;
    this.units = 1 << maxOrder;
    this.tree = new byte[2 * units];
    int order = maxOrder;
    for (int first = 1; first <= units; first *= 2, order--) {
      for (int node = first; node < 2 * first; node++) {
        tree[node] = (byte) (order + 1);
      }
    }
  }

  /** Bytes of heap that it takes. */
  long footprint() {
    return Footprint.object(4, 8) + Footprint.bytes(tree.length);
  }

  /** The index of its region. */
  int region() {
    return region;
  }

  /** The index of the block in its region. */
  int block() {
    return block;
  }

  SplitBlock previous() {
    return previous;
  }

  SplitBlock next() {
    return next;
  }

  void link(SplitBlock newPrevious, SplitBlock newNext) {
    previous = newPrevious;
    next = newNext;
  }

  /** The order plus one of the largest free piece; 0 when nothing is free. */
  int largest() {
    return tree[1];
  }

  /** True when every unit is free. */
  boolean isFree() {
    return tree[1] == Integer.numberOfTrailingZeros(units) + 1;
  }

  /**
   * Takes a piece; one of that order must be free.
   *
   * @return the index of its first unit
   */
  int take(int order) {
    int wanted = order + 1;
    if (tree[1] < wanted) {
      throw new AssertionError("no piece of order " + order);
    }
    int node = 1;
    for (int width = units; width > 1 << order; width >>>= 1) {
      int left = tree[2 * node];
      int right = tree[2 * node + 1];
      // The half with the smaller largest piece, so that large pieces stay whole.
      boolean goLeft = left >= wanted && (right < wanted || left <= right);
      node = goLeft ? 2 * node : 2 * node + 1;
    }
    tree[node] = 0;
    int first = (node << order) - units;
    for (int parent = node >>> 1; parent > 0; parent >>>= 1) {
      tree[parent] = (byte) Math.max(tree[2 * parent], tree[2 * parent + 1]);
    }
    return first;
  }

  /** Takes a piece at a place; false unless all of it is free. */
  boolean claim(int firstUnit, int order) {
    int node = (units + firstUnit) >>> order;
    if (tree[node] != order + 1) {
      return false;
    }
    for (int above = node >>> 1; above > 0; above >>>= 1) {
      if (tree[above] == 0) {
        // It was taken as a whole.
        return false;
      }
    }
    tree[node] = 0;
    for (int parent = node >>> 1; parent > 0; parent >>>= 1) {
      tree[parent] = (byte) Math.max(tree[2 * parent], tree[2 * parent + 1]);
    }
    return true;
  }

  /** Gives back a piece that was taken. */
  void give(int firstUnit, int order) {
    int node = (units + firstUnit) >>> order;
    boolean whole = order == 0 || (tree[2 * node] == order && tree[2 * node + 1] == order);
    if (tree[node] != 0 || !whole || node << order != units + firstUnit) {
      throw new AssertionError(
          "not taken: unit " + firstUnit + " of order " + order + " in block " + block);
    }
    tree[node] = (byte) (order + 1);
    int childOrder = order;
    for (int parent = node >>> 1; parent > 0; parent >>>= 1, childOrder++) {
      int left = tree[2 * parent];
      int right = tree[2 * parent + 1];
      boolean merged = left == childOrder + 1 && right == childOrder + 1;
      tree[parent] = (byte) (merged ? childOrder + 2 : Math.max(left, right));
    }
  }

  /** Counts the free units from the tree, and checks the tree on the way. For tests. */
  int countFreeUnits() {
    return countFreeUnits(1, units);
  }

  private int countFreeUnits(int node, int width) {
    int full = Integer.numberOfTrailingZeros(width) + 1;
    if (tree[node] == full) {
      return width;
    }
    if (width == 1) {
      return 0;
    }
    int left = tree[2 * node];
    int right = tree[2 * node + 1];
    if (tree[node] == 0 && left == full - 1 && right == full - 1) {
      return 0;
    }
    if (tree[node] != Math.max(left, right)) {
      throw new AssertionError("buddy tree of block " + block + " is broken");
    }
    return countFreeUnits(2 * node, width / 2) + countFreeUnits(2 * node + 1, width / 2);
  }

  /** Notes the free pieces. For tests. */
  void auditFree(int blockSize, SpaceAudit.Region audit) {
    auditFree((long) block * blockSize, 1, units, audit);
  }

  private void auditFree(long regionOffset, int node, int width, SpaceAudit.Region audit) {
    if (tree[node] == 0) {
      return;
    }
    long length = (long) width * Extent.MIN_LENGTH;
    if (tree[node] == Integer.numberOfTrailingZeros(width) + 1) {
      audit.free(regionOffset, length);
      return;
    }
    auditFree(regionOffset, 2 * node, width / 2, audit);
    auditFree(regionOffset + length / 2, 2 * node + 1, width / 2, audit);
  }
}
