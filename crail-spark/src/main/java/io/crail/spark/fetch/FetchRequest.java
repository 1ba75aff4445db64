/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.spark.fetch.OutputCache.Opened;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.OutputId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of one host for one listener. They are fetched a group at a time: it asks for all outputs
 * of the group that are not known yet, then issues all reads, then hands the blocks over as they
 * arrive. So a group costs a few round trips, whatever the number of its blocks. Used by one
 * thread.
 */
final class FetchRequest {
  private static final Logger LOG = LoggerFactory.getLogger(FetchRequest.class);
  private static final int GROUP = 64;

  private final OutputCache outputs;
  private final FetchMemory memory;
  private final HostPatience host;
  private final List<BlockRange> blocks;
  private final BlockListener listener;
  private final BooleanSupplier closing;
  private final long cameNanos;
  private final Patience patience;

  /** Blocks of which the listener has not heard: who waits for a forgotten one never ends. */
  private final Set<BlockRange> open;

  /** Blocks that have come with wrong bytes. */
  private final Set<BlockRange> spoilt = new HashSet<>();

  /**
   * A request that has come.
   *
   * @param host the host that has the blocks
   * @param closing whether the fetcher ends
   */
  FetchRequest(
      OutputCache outputs,
      FetchMemory memory,
      HostPatience host,
      List<BlockRange> blocks,
      BlockListener listener,
      BooleanSupplier closing) {
    this.outputs = outputs;
    this.memory = memory;
    this.host = host;
    this.cameNanos = host.time().nanoTime();
    this.blocks = List.copyOf(blocks);
    this.listener = listener;
    this.closing = closing;
    this.patience = new Patience(host);
    this.open = new LinkedHashSet<>(blocks);
  }

  /**
   * Fetches the blocks, and lets the listener hear of each of them, whatever happens, unless it
   * does not want to any more, or the fetcher ends: that knows nothing of what is lost.
   */
  void run() {
    try {
      for (int i = 0; i < blocks.size(); i += GROUP) {
        List<BlockRange> left = blocks.subList(i, Math.min(i + GROUP, blocks.size()));
        while (!left.isEmpty()) {
          if (closing.getAsBoolean() || !listener.isWanted()) {
            return;
          }
          Optional<Exception> lost = host.givenUp(cameNanos);
          if (lost.isPresent()) {
            failOpen(lost.get());
            return;
          }
          left = attempt(left);
          if (!left.isEmpty()) {
            host.time().pause();
          }
        }
        patience.renew();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.error("cannot fetch blocks", e);
      failOpen(new IllegalStateException(e));
    }
  }

  /** Fetches a group; returns the blocks that are worth another attempt. */
  private List<BlockRange> attempt(List<BlockRange> group) throws InterruptedException {
    long began = host.time().nanoTime();
    Map<OutputId, Opened> opened = outputs.open(group.stream().map(BlockRange::output).toList());
    List<BlockFetch> fetches = new ArrayList<>();
    try {
      for (BlockRange block : group) {
        BlockFetch fetch = new BlockFetch(block, opened.get(block.output()), memory, host);
        fetches.add(fetch);
        fetch.begin();
      }
      List<BlockRange> again = new ArrayList<>();
      for (BlockFetch fetch : fetches) {
        if (!finish(fetch, began)) {
          again.add(fetch.block());
        }
      }
      return again;
    } finally {
      fetches.forEach(BlockFetch::close);
    }
  }

  /** Reports the outcome of a block; false when it is worth another attempt. */
  private boolean finish(BlockFetch fetch, long beganNanos) {
    BlockRange block = fetch.block();
    BlockData data;
    try {
      data = fetch.finish();
    } catch (Exception e) {
      outputs.forget(block.output());
      if (isWorthAnother(block, e, beganNanos)) {
        return false;
      }
      failed(block, e);
      return true;
    }
    patience.answered();
    fetched(block, data);
    return true;
  }

  private boolean isWorthAnother(BlockRange block, Exception failure, long beganNanos) {
    // Bytes may have been spoilt on their way, but hardly twice.
    return failure instanceof CorruptOutputException
        ? spoilt.add(block)
        : patience.tryAgain(failure, beganNanos);
  }

  private void fetched(BlockRange block, BlockData data) {
    open.remove(block);
    outputs.counts().fetched(data.length());
    try {
      listener.fetched(block, data);
    } catch (RuntimeException e) {
      LOG.error("block {} was not taken", block, e);
      failed(block, e);
    }
  }

  private void failed(BlockRange block, Exception cause) {
    open.remove(block);
    if (!closing.getAsBoolean()) {
      outputs.counts().failed();
      listener.failed(block, cause);
    }
  }

  private void failOpen(Exception cause) {
    List.copyOf(open).forEach(block -> failed(block, cause));
  }
}
