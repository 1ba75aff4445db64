/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;

/**
 * The free space of a datanode's regions: whole blocks, and pieces of split blocks. Guarded by the
 * monitor of its {@link DatanodeSpace}.
 */
final class FreePieces {
  /**
   * A piece of space.
   *
   * @param region the index of its region
   * @param generation the generation of its new owner
   */
  record Piece(int region, long regionOffset, int length, long generation) {}

  private final int blockSize;
  private final int maxOrder;
  private final DatanodeHeap heap;
  // The split blocks, by the order plus one of their largest free piece.
  private final SplitBlock[] splitBlocks;
  private RegionSpace[] regions = {};
  // The regions before this one have no free block.
  private int firstFreeRegion;
  private long blocks;

  FreePieces(int blockSize, DatanodeHeap heap) {
    this.blockSize = blockSize;
    this.heap = heap;
    this.maxOrder = order(blockSize);
    this.splitBlocks = new SplitBlock[maxOrder + 1];
  }

  /** The order of an extent of {@code length} bytes: 0 for the smallest. */
  private static int order(int length) {
    return Integer.numberOfTrailingZeros(length / Extent.MIN_LENGTH);
  }

  /** Free blocks; split ones do not count. */
  long blocks() {
    return blocks;
  }

  /** Adds a region that is completely free. {@code all} contains it and the earlier regions. */
  void add(RegionSpace[] all, RegionSpace region) {
    regions = all;
    firstFreeRegion = 0;
    blocks += region.blocks();
  }

  /** Takes a piece of this length, a power of two and at most the largest free piece. */
  Piece take(int length) {
    return length == blockSize ? takeBlock() : takePiece(order(length));
  }

  /**
   * Takes the piece at a place.
   *
   * @param index of its region
   * @return false unless all of it is free
   */
  boolean claim(int index, long regionOffset, int length) {
    RegionSpace region = regions[position(index)];
    int block = (int) (regionOffset / blockSize);
    SplitBlock split = region.split(block);
    if (length == blockSize) {
      boolean isClaimed = split == null && region.claimBlock(block);
      blocks -= isClaimed ? 1 : 0;
      return isClaimed;
    }
    if (split != null) {
      unlink(split);
    } else if (region.claimBlock(block)) {
      blocks--;
      split = newSplit(region, block);
    } else {
      return false;
    }
    boolean isClaimed =
        split.claim((int) (regionOffset % blockSize) / Extent.MIN_LENGTH, order(length));
    link(split);
    return isClaimed;
  }

  private SplitBlock newSplit(RegionSpace region, int block) {
    SplitBlock split = new SplitBlock(region.index(), block, maxOrder);
    region.split(block, split);
    heap.add(split.footprint());
    return split;
  }

  /** Bytes of the largest piece; 0 for none. */
  int largest() {
    if (blocks > 0) {
      return blockSize;
    }
    for (int i = splitBlocks.length - 1; i > 0; i--) {
      if (splitBlocks[i] != null) {
        return Extent.MIN_LENGTH << (i - 1);
      }
    }
    return 0;
  }

  private Piece takeBlock() {
    RegionSpace region = regionWithFreeBlock();
    blocks--;
    return new Piece(
        region.index(), (long) region.takeBlock() * blockSize, blockSize, region.nextGeneration());
  }

  private Piece takePiece(int order) {
    SplitBlock block = null;
    for (int i = order + 1; i < splitBlocks.length && block == null; i++) {
      block = splitBlocks[i];
    }
    if (block == null) {
      RegionSpace region = regionWithFreeBlock();
      blocks--;
      block = newSplit(region, region.takeBlock());
    } else {
      unlink(block);
    }
    int unit = block.take(order);
    link(block);
    return new Piece(
        block.region(),
        (long) block.block() * blockSize + (long) unit * Extent.MIN_LENGTH,
        Extent.MIN_LENGTH << order,
        regions[position(block.region())].nextGeneration());
  }

  /**
   * Takes a piece back.
   *
   * @param index of its region
   */
  void give(int index, long regionOffset, int length) {
    int at = position(index);
    RegionSpace region = regions[at];
    int block = (int) (regionOffset / blockSize);
    if (length == blockSize) {
      giveBlock(at, block);
      return;
    }
    SplitBlock split = region.split(block);
    if (split == null) {
      throw new AssertionError("block " + block + " is not split");
    }
    unlink(split);
    int unit = (int) (regionOffset % blockSize) / Extent.MIN_LENGTH;
    split.give(unit, order(length));
    if (split.isFree()) {
      region.split(block, null);
      heap.add(-split.footprint());
      giveBlock(at, block);
    } else {
      link(split);
    }
  }

  /** Where the region of an index is; they are ordered by it. */
  private int position(int index) {
    int low = 0;
    int high = regions.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (regions[middle].index() < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void giveBlock(int at, int block) {
    regions[at].giveBlock(block);
    blocks++;
    firstFreeRegion = Math.min(firstFreeRegion, at);
  }

  /**
   * The first region with a free block. Its memory is more likely to have been used before than
   * that of later regions, and the first use of memory costs as much as several copies.
   */
  private RegionSpace regionWithFreeBlock() {
    while (firstFreeRegion < regions.length) {
      if (regions[firstFreeRegion].freeBlocks() > 0) {
        return regions[firstFreeRegion];
      }
      firstFreeRegion++;
    }
    throw new AssertionError("no free block, but " + blocks + " were counted");
  }

  private void link(SplitBlock block) {
    int largest = block.largest();
    if (largest == 0) {
      return;
    }
    SplitBlock head = splitBlocks[largest];
    block.link(null, head);
    if (head != null) {
      head.link(block, head.next());
    }
    splitBlocks[largest] = block;
  }

  private void unlink(SplitBlock block) {
    if (block.largest() == 0) {
      return;
    }
    SplitBlock previous = block.previous();
    SplitBlock next = block.next();
    if (previous == null) {
      splitBlocks[block.largest()] = next;
    } else {
      previous.link(previous.previous(), next);
    }
    if (next != null) {
      next.link(previous, next.next());
    }
    block.link(null, null);
  }

  /** Counts everything again and compares; for tests. Returns the free bytes. */
  long verify(Object datanode, SpaceAudit audit) {
    long bytes = 0;
    long counted = 0;
    for (RegionSpace region : regions) {
      bytes += region.countFreeBytes(blockSize, Extent.MIN_LENGTH);
      counted += region.freeBlocks();
      SpaceAudit.Region noted = audit.region(datanode, region.index());
      region.auditFree(blockSize, noted);
      noted.requireWhole(region.blocks());
    }
    if (counted != blocks) {
      throw new AssertionError("counted " + counted + " free blocks, not " + blocks);
    }
    return bytes;
  }
}
