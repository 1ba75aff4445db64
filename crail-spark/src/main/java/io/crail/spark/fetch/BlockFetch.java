/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.common.error.LimitExceededException;
import io.crail.spark.fetch.OutputCache.Opened;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputIndex;
import java.util.List;

/** One block on its way. Used by one thread. */
final class BlockFetch implements AutoCloseable {
  private static final long STREAMED_BYTES = 8 << 20;

  private final BlockRange block;
  private final MapOutput output;
  private final FetchMemory memory;
  private final HostPatience host;
  private RangeReads reads;
  private Exception failure;
  private boolean streamed;

  /**
   * Issues nothing yet.
   *
   * @param opened the block's output, or the reason why there is none
   * @param host the output's host
   */
  BlockFetch(BlockRange block, Opened opened, FetchMemory memory, HostPatience host) {
    this.block = block;
    this.output = opened.output();
    this.failure = opened.failure();
    this.memory = memory;
    this.host = host;
  }

  BlockRange block() {
    return block;
  }

  /** Issues its reads. */
  void begin() {
    if (failure != null) {
      return;
    }
    OutputIndex index = output.index();
    if (block.from() < 0 || block.to() > index.partitions() || block.from() >= block.to()) {
      failure = new CorruptOutputException(index + " has no " + block);
      return;
    }
    streamed = index.length(block.from(), block.to()) > STREAMED_BYTES;
    if (!streamed) {
      try {
        reads = new RangeReads(memory, output.file());
        for (int run = 0; run < index.runs(); run++) {
          reads.add(index.start(run, block.from()), index.end(run, block.to() - 1));
        }
      } catch (LimitExceededException e) {
        // Other blocks have all memory, so this one is read while it is used.
        streamed = true;
      } catch (Exception e) {
        failure = e;
      }
    }
  }

  /**
   * Waits for the bytes and compares their checksums.
   *
   * @return the bytes, which the caller has to release
   */
  BlockData finish() throws Exception {
    if (reads != null) {
      reads.await();
    }
    if (failure != null) {
      throw failure;
    }
    if (streamed) {
      return new StreamedBlock(output, block.from(), block.to(), host);
    }
    OutputIndex index = output.index();
    long length = index.length(block.from(), block.to());
    BufferedBlock data = new BufferedBlock(List.copyOf(reads.pieces()), length);
    data.verify(index, block.from(), block.to());
    reads = null;
    return data;
  }

  /** Gives back what the block's bytes have not become. */
  @Override
  public void close() {
    if (reads != null) {
      reads.release();
      reads = null;
    }
  }
}
