/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailBlockLocation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BlockLocation;

/**
 * The blocks of a file as schedulers see them. They have the size by which schedulers split, and
 * each names the datanodes that hold most of it. The store's own blocks are a hundred times
 * smaller: a program that lists large files would get far too many. Used by one thread.
 */
final class SchedulerBlocks {
  /** Most datanodes of a block; schedulers use few. */
  private static final int MAX_HOLDERS = 3;

  private final long blockSize;
  private final List<BlockLocation> blocks = new ArrayList<>();

  /** The datanodes of the present block, by their names. */
  private final Map<String, Holder> holders = new LinkedHashMap<>();

  /** Where the present block begins; the block is empty when there is none. */
  private long begin;

  private long end;

  /** A datanode, and how much it holds of a block. */
  private record Holder(String name, String host, String topology, long bytes) {
    Holder with(long more) {
      return new Holder(name, host, topology, bytes + more);
    }
  }

  private SchedulerBlocks(long blockSize) {
    this.blockSize = blockSize;
  }

  /**
   * Joins runs of bytes into blocks.
   *
   * @param runs consecutive runs without gaps; the first begins at a multiple of the block size
   */
  static BlockLocation[] of(CrailBlockLocation[] runs, long blockSize) {
    SchedulerBlocks all = new SchedulerBlocks(blockSize);
    for (CrailBlockLocation run : runs) {
      all.add(run);
    }
    all.finish();
    return all.blocks.toArray(BlockLocation[]::new);
  }

  /** Adds a run, which may reach over several blocks. */
  private void add(CrailBlockLocation run) {
    long next = run.getOffset();
    long behind = next + run.getLength();
    while (next < behind) {
      if (next % blockSize == 0) {
        finish();
        begin = next;
      }
      long part = Math.min(behind - next, blockSize - next % blockSize);
      share(run, part);
      next += part;
      end = next;
    }
  }

  private void share(CrailBlockLocation run, long bytes) {
    String[] names = run.getNames();
    for (int i = 0; i < names.length; i++) {
      Holder holder = new Holder(names[i], run.getHosts()[i], run.getTopology()[i], bytes);
      holders.merge(names[i], holder, (known, more) -> known.with(more.bytes));
    }
  }

  /** Ends the present block, if there is one. */
  private void finish() {
    if (holders.isEmpty()) {
      return;
    }
    List<Holder> largest =
        holders.values().stream()
            .sorted(Comparator.comparingLong(Holder::bytes).reversed())
            .limit(MAX_HOLDERS)
            .toList();
    blocks.add(
        new BlockLocation(
            largest.stream().map(Holder::name).toArray(String[]::new),
            largest.stream().map(Holder::host).toArray(String[]::new),
            largest.stream().map(Holder::topology).toArray(String[]::new),
            begin,
            end - begin));
    holders.clear();
  }
}
