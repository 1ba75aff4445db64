/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.common.error.LimitExceededException;
import io.crail.spark.fetch.BlockData;
import io.crail.spark.fetch.BlockListener;
import io.crail.spark.fetch.BlockRange;
import io.crail.spark.fetch.Fetcher;
import io.crail.spark.output.OutputId;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;

/** Gives a task's fetching iterator the blocks that it asks for, out of Crail. Thread-safe. */
final class BlockClient extends BlockStoreClient {
  private final Fetcher fetcher;
  private final TaskContext context;

  BlockClient(Fetcher fetcher, TaskContext context) {
    this.fetcher = fetcher;
    this.context = context;
  }

  /**
   * Fetches blocks. A block's name says where it is, but only a place in Crail has blocks. The
   * manager of local files is not used: a large block is read as it comes.
   *
   * @param host the host of the store, as the map status has it
   */
  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executor,
      String[] names,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    if (!LocatedWriter.isPlace(executor)) {
      // Spark's own tests of retries let the driver name such a place.
      for (String name : names) {
        listener.onBlockFetchFailure(name, new IOException(executor + " is no place in Crail"));
      }
      return;
    }
    List<BlockRange> blocks = new ArrayList<>();
    for (String name : names) {
      blocks.add(range(name));
    }
    fetcher.fetch(
        host,
        blocks,
        new BlockListener() {
          @Override
          public boolean isWanted() {
            return !context.isCompleted();
          }

          @Override
          public void fetched(BlockRange block, BlockData data) {
            BlockBuffer buffer = new BlockBuffer(data);
            try {
              listener.onBlockFetchSuccess(block.name(), buffer);
            } finally {
              buffer.release();
            }
          }

          @Override
          public void failed(BlockRange block, Exception cause) {
            if (isLocal(cause)) {
              fetched(block, new UnreadBlock(cause));
            } else {
              listener.onBlockFetchFailure(block.name(), cause);
            }
          }
        });
  }

  /** Whether the output may be good, and this executor cannot read it. */
  private static boolean isLocal(Exception cause) {
    return cause instanceof LimitExceededException || !(cause instanceof IOException);
  }

  /**
   * A block that this executor cannot read. What Spark hears of as a failure is a lost output,
   * which it computes again; so the task that uses this block fails instead.
   */
  private record UnreadBlock(Exception cause) implements BlockData {
    /** Spark takes an empty block for a lost output. */
    @Override
    public long length() {
      return 1;
    }

    @Override
    public InputStream open() {
      throw new IllegalStateException("cannot read a block", cause);
    }

    @Override
    public void release() {
      // Has nothing.
    }
  }

  private static BlockRange range(String name) {
    BlockId id = BlockId$.MODULE$.apply(name);
    if (id instanceof ShuffleBlockId block) {
      OutputId output = new OutputId(block.shuffleId(), block.mapId());
      return new BlockRange(name, output, block.reduceId(), block.reduceId() + 1);
    }
    if (id instanceof ShuffleBlockBatchId batch) {
      OutputId output = new OutputId(batch.shuffleId(), batch.mapId());
      return new BlockRange(name, output, batch.startReduceId(), batch.endReduceId());
    }
    throw new IllegalArgumentException(name + " is no block of a shuffle");
  }

  /** A block's checksum was compared when it arrived, so what is wrong came after that. */
  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String executor,
      int shuffle,
      long map,
      int partition,
      long checksum,
      String algorithm) {
    return Cause.UNKNOWN_ISSUE;
  }

  @Override
  public void close() {
    // The manager closes the fetcher.
  }
}
