/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailBlockLocation;
import org.apache.hadoop.fs.BlockLocation;
import org.junit.jupiter.api.Test;

class SchedulerBlocksTest {
  private static final long BLOCK_SIZE = 100;

  /** Bytes at one datanode. */
  private record Run(long offset, long length, String host) implements CrailBlockLocation {
    @Override
    public long getOffset() {
      return offset;
    }

    @Override
    public long getLength() {
      return length;
    }

    @Override
    public String[] getNames() {
      return new String[] {host + ":1"};
    }

    @Override
    public String[] getHosts() {
      return new String[] {host};
    }

    @Override
    public String[] getTopology() {
      return new String[] {"/rack/" + host + ":1"};
    }

    @Override
    public int[] getStorageClasses() {
      return new int[1];
    }

    @Override
    public int[] getStorageTypes() {
      return new int[1];
    }

    @Override
    public int[] getLocationAffinities() {
      return new int[1];
    }
  }

  @Test
  void runsOfABlockBecomeOneWithTheLargestHolderFirst() throws Exception {
    BlockLocation[] blocks = blocks(new Run(0, 30, "a"), new Run(30, 40, "b"), new Run(70, 5, "a"));
    assertEquals(1, blocks.length);
    check(blocks[0], 0, 75, "b", "a");
    assertArrayEquals(new String[] {"b:1", "a:1"}, blocks[0].getNames());
    assertArrayEquals(new String[] {"/rack/b:1", "/rack/a:1"}, blocks[0].getTopologyPaths());
  }

  @Test
  void aRunOverSeveralBlocksIsInAllOfThem() throws Exception {
    BlockLocation[] blocks = blocks(new Run(200, 50, "a"), new Run(250, 200, "b"));
    assertEquals(3, blocks.length);
    check(blocks[0], 200, 100, "a", "b");
    check(blocks[1], 300, 100, "b");
    check(blocks[2], 400, 50, "b");
  }

  @Test
  void fewHoldersAreReported() throws Exception {
    BlockLocation[] blocks =
        blocks(
            new Run(0, 10, "a"), new Run(10, 20, "b"), new Run(30, 30, "c"), new Run(60, 40, "d"));
    assertEquals(1, blocks.length);
    check(blocks[0], 0, 100, "d", "c", "b");
  }

  @Test
  void nothingHasNoBlock() {
    assertEquals(0, blocks().length);
  }

  private static BlockLocation[] blocks(CrailBlockLocation... runs) {
    return SchedulerBlocks.of(runs, BLOCK_SIZE);
  }

  private static void check(BlockLocation block, long offset, long length, String... hosts)
      throws Exception {
    assertEquals(offset, block.getOffset());
    assertEquals(length, block.getLength());
    assertArrayEquals(hosts, block.getHosts());
  }
}
