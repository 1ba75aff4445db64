/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import java.util.Arrays;

/**
 * A region of a datanode, cut into blocks. Takes memory only for blocks that have been used. Not
 * thread-safe: used under the monitor of its {@link DatanodeSpace}.
 */
final class RegionSpace {
  private final DatanodeHeap heap;
  private final Region region;
  private final int blocks;

  private long generation;

  // Blocks from here on were never used.
  private int firstFresh;
  private int[] returned = {};
  private int returnedCount;
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
    return returnedCount > 0 ? returned[--returnedCount] : firstFresh++;
  }

  /** Takes one block; false unless it is free. */
  boolean claimBlock(int block) {
    if (block < firstFresh) {
      // Most likely one that was returned lately.
      for (int i = returnedCount - 1; i >= 0; i--) {
        if (returned[i] == block) {
          returned[i] = returned[--returnedCount];
          return true;
        }
      }
      return false;
    }
    while (firstFresh < block) {
      put(firstFresh++);
    }
    firstFresh++;
    return true;
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
    if (returnedCount == returned.length) {
      int[] grown = Arrays.copyOf(returned, Math.max(16, returned.length * 2));
      heap.add(bytes(grown.length) - bytes(returned.length));
      returned = grown;
    }
    returned[returnedCount++] = block;
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
    for (int i = 0; i < returnedCount; i++) {
      if (free[returned[i]]) {
        throw new AssertionError("block " + returned[i] + " is free twice");
      }
      free[returned[i]] = true;
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
    for (int i = 0; i < returnedCount; i++) {
      audit.free((long) returned[i] * blockSize, blockSize);
    }
    for (SplitBlock block : split) {
      if (block != null) {
        block.auditFree(blockSize, audit);
      }
    }
  }
}
