/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;

/**
 * A region of a datanode, cut into blocks. Takes memory only for blocks that have been used. Not
 * thread-safe: used under the monitor of its {@link DatanodeSpace}.
 */
final class RegionSpace {
  private final DatanodeHeap heap;
  private Region region;
  private final int blocks;

  private long generation;

  // Blocks from here on were never used.
  private int firstFresh;
  private int[] returned = {};
  private int returnedCount;
  // Blocks that were returned, while single ones are claimed; null while the list has them.
  private BitSet claimable;
  private SplitBlock[] split = {};

  /**
   * Creates the space of a region, all free.
   *
   * @param heap the account of its lists
   * @param generation the number above which its generations begin
   */
  RegionSpace(DatanodeHeap heap, Region region, int blocks, long generation) {
    this.heap = heap;
    this.region = region;
    this.blocks = blocks;
    this.generation = generation;
  }

  /** What is wrong with a region that registers; null for nothing. */
  static String refusal(Region region, int blockSize, long generation) {
    if (region.index() < 0 || region.length() <= 0 || region.length() % blockSize != 0) {
      return "is no multiple of the block size " + blockSize;
    }
    if (region.length() / blockSize > Integer.MAX_VALUE - 8) {
      return "is too long";
    }
    return generation < 0 || generation > Generation.MAX ? "has generation " + generation : null;
  }

  Region region() {
    return region;
  }

  /** Another address and key for the same space. */
  void renew(Region renewed) {
    region = renewed;
  }

  int index() {
    return region.index();
  }

  int blocks() {
    return blocks;
  }

  /** The last generation that was given out here. */
  long generation() {
    return generation;
  }

  /** The generation of space that is given out now. */
  long nextGeneration() {
    return ++generation;
  }

  /** The number of completely free blocks. */
  int freeBlocks() {
    return blocks - firstFresh + returnedCount;
  }

  /**
   * Takes a block; one must be free. Prefers the block that was returned last, since its memory is
   * warm.
   */
  int takeBlock() {
    if (claimable != null) {
      endClaims();
    }
    return returnedCount > 0 ? returned[--returnedCount] : firstFresh++;
  }

  /** Takes one block; false unless it is free. */
  boolean claimBlock(int block) {
    if (claimable == null) {
      BitSet free = new BitSet();
      returned().forEach(free::set);
      resize(0);
      claimable = free;
    }
    if (block >= firstFresh) {
      claimable.set(firstFresh, block);
      returnedCount += block - firstFresh;
      firstFresh = block + 1;
      return true;
    }
    boolean isFree = claimable.get(block);
    claimable.clear(block);
    returnedCount -= isFree ? 1 : 0;
    return isFree;
  }

  /** Puts the blocks into the list again, the first one last, from which on they are taken. */
  private void endClaims() {
    resize(returnedCount);
    int at = returnedCount;
    for (int block = claimable.nextSetBit(0); block >= 0; block = claimable.nextSetBit(block + 1)) {
      returned[--at] = block;
    }
    claimable = null;
  }

  /** The blocks that were returned, in any order. */
  private IntStream returned() {
    return claimable == null ? Arrays.stream(returned, 0, returnedCount) : claimable.stream();
  }

  /** Notes that a generation was given out. */
  void haveGiven(long given) {
    generation = Math.max(generation, given);
  }

  /** Gives a block back. */
  void giveBlock(int block) {
    if (block < 0 || block >= firstFresh || returnedCount >= firstFresh) {
      throw new AssertionError("block " + block + " of region " + index() + " was not taken");
    }
    put(block);
  }

  private void put(int block) {
    if (claimable != null) {
      claimable.set(block);
      returnedCount++;
      return;
    }
    if (returnedCount == returned.length) {
      resize(Math.max(16, returned.length * 2));
    }
    returned[returnedCount++] = block;
  }

  private void resize(int length) {
    heap.add(bytes(length) - bytes(returned.length));
    returned = Arrays.copyOf(returned, length);
  }

  private static long bytes(int blocks) {
    return Footprint.bytes((long) blocks * Integer.BYTES);
  }

  /** The pieces of a split block, or null. */
  SplitBlock split(int block) {
    return block < split.length ? split[block] : null;
  }

  /** Notes that a block is split, or with null that it is not split any more. */
  void split(int block, SplitBlock newSplit) {
    if (block >= split.length) {
      SplitBlock[] grown =
          Arrays.copyOf(split, Math.max(block + 1, Math.min(blocks, split.length * 2)));
      heap.add(Footprint.references(grown.length) - Footprint.references(split.length));
      split = grown;
    }
    split[block] = newSplit;
  }

  /** Counts the free bytes from blocks and trees, and checks that no block is free twice. */
  long countFreeBytes(long blockSize, int unitLength) {
    boolean[] free = new boolean[firstFresh];
    for (int block : returned().toArray()) {
      if (free[block]) {
        throw new AssertionError("block " + block + " is free twice");
      }
      free[block] = true;
    }
    long bytes = freeBlocks() * blockSize;
    for (int i = 0; i < split.length; i++) {
      if (split[i] != null) {
        if (i >= firstFresh || free[i]) {
          throw new AssertionError("block " + i + " is free and split");
        }
        bytes += (long) split[i].countFreeUnits() * unitLength;
      }
    }
    return bytes;
  }

  /** Notes the free space. */
  void auditFree(int blockSize, SpaceAudit.Region audit) {
    audit.free((long) firstFresh * blockSize, (long) (blocks - firstFresh) * blockSize);
    returned().forEach(block -> audit.free((long) block * blockSize, blockSize));
    for (SplitBlock block : split) {
      if (block != null) {
        block.auditFree(blockSize, audit);
      }
    }
  }
}
