/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.UnavailableException;
import io.crail.spark.fetch.FetchMemory.Piece;
import io.crail.spark.fetch.OutputCache.Opened;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputIndex;
import io.crail.spark.output.OutputPlace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches blocks for the tasks of one executor. Each thread takes the blocks of one request, a
 * group at a time: it asks for all outputs of the group that are not known yet, then issues all
 * reads, then hands the blocks over as they arrive. So a group costs a few round trips, whatever
 * the number of its blocks. Thread-safe.
 */
public final class Fetcher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Fetcher.class);
  private static final int GROUP = 64;
  private static final long STREAMED_BYTES = 8 << 20;
  private static final long PAUSE_MILLIS = 200;
  private static final long CLOSE_SECONDS = 30;

  private final OutputPlace place;
  private final OutputCache outputs;
  private final StrayMemory strays = new StrayMemory();
  private final long patienceNanos;
  private final ExecutorService threads;

  /**
   * Starts the threads.
   *
   * @param count the number of threads
   * @param indexCacheBytes most bytes of indexes that are remembered
   * @param patience how long it tries again where nobody answers
   */
  public Fetcher(OutputPlace place, int count, long indexCacheBytes, Duration patience) {
    this.place = place;
    this.outputs = new OutputCache(place, indexCacheBytes);
    this.patienceNanos = patience.toNanos();
    this.threads =
        Executors.newFixedThreadPool(
            count,
            task -> {
              Thread thread = new Thread(task, "crail-spark-fetch");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Fetches blocks; returns at once. The listener hears of each block. */
  public void fetch(List<BlockRange> blocks, BlockListener listener) {
    threads.execute(() -> run(blocks, listener));
  }

  /** Forgets what is known of a shuffle that was removed. */
  public void forgetShuffle(int shuffle) {
    outputs.forgetShuffle(shuffle);
  }

  /** Fetches blocks, and lets the listener hear of each of them, whatever happens. */
  private void run(List<BlockRange> blocks, BlockListener listener) {
    Reports reports = new Reports(blocks, listener);
    try {
      fetchGroups(blocks, reports);
    } catch (RuntimeException | Error e) {
      LOG.error("cannot fetch blocks", e);
      reports.failAll(e);
    }
  }

  /**
   * Notes which blocks the listener has heard of: who waits for one that is forgotten never ends.
   */
  private final class Reports implements BlockListener {
    private final Set<BlockRange> open;
    private final BlockListener listener;

    Reports(List<BlockRange> blocks, BlockListener listener) {
      this.open = new LinkedHashSet<>(blocks);
      this.listener = listener;
    }

    @Override
    public void fetched(BlockRange block, BlockData data) {
      open.remove(block);
      place.counts().fetched(data.length());
      try {
        listener.fetched(block, data);
      } catch (RuntimeException e) {
        LOG.error("block {} was not taken", block, e);
        failed(block, e);
      }
    }

    @Override
    public void failed(BlockRange block, Exception cause) {
      open.remove(block);
      // An executor that ends knows nothing of what is lost.
      if (!threads.isShutdown()) {
        place.counts().failed();
        listener.failed(block, cause);
      }
    }

    void failAll(Throwable cause) {
      List.copyOf(open).forEach(block -> failed(block, new IllegalStateException(cause)));
    }
  }

  private void fetchGroups(List<BlockRange> blocks, BlockListener listener) {
    // One for all groups: where nobody answered the first, the others get one attempt each.
    long deadline = System.nanoTime() + patienceNanos;
    for (int i = 0; i < blocks.size(); i += GROUP) {
      List<BlockRange> left = blocks.subList(i, Math.min(i + GROUP, blocks.size()));
      for (boolean first = true; !left.isEmpty(); first = false) {
        List<Fetch> fetches = begin(left);
        List<BlockRange> again = new ArrayList<>();
        for (Fetch fetch : fetches) {
          if (!fetch.finish(listener, first, System.nanoTime() - deadline < 0)) {
            again.add(fetch.block);
          }
        }
        left = again;
        if (!left.isEmpty() && !pause()) {
          left.forEach(block -> listener.failed(block, new InterruptedException("closed")));
          return;
        }
      }
    }
  }

  private static boolean pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private List<Fetch> begin(List<BlockRange> blocks) {
    strays.releaseEnded();
    List<Fetch> fetches = new ArrayList<>();
    Map<OutputId, Opened> opened;
    try {
      opened = outputs.open(blocks.stream().map(BlockRange::output).toList());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      blocks.forEach(block -> fetches.add(new Fetch(block, new Opened(null, e))));
      return fetches;
    }
    try (FetchMemory memory = new FetchMemory(place.store())) {
      for (BlockRange block : blocks) {
        Fetch fetch = new Fetch(block, opened.get(block.output()));
        fetch.begin(memory);
        fetches.add(fetch);
      }
    }
    return fetches;
  }

  /** One block on its way. */
  private final class Fetch {
    private final BlockRange block;
    private final MapOutput output;
    private final List<Piece> pieces = new ArrayList<>();
    private final List<Future<CrailResult>> reads = new ArrayList<>();
    private final List<CrailInputStream> streams = new ArrayList<>();
    private Exception failure;
    private boolean streamed;

    Fetch(BlockRange block, Opened opened) {
      this.block = block;
      this.output = opened.output();
      this.failure = opened.failure();
    }

    void begin(FetchMemory memory) {
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
          issue(index, memory);
        } catch (LimitExceededException e) {
          // Other blocks have all buffers, so this one does with the memory of a stream.
          streamed = true;
        } catch (Exception e) {
          failure = e;
        }
      }
    }

    private void issue(OutputIndex index, FetchMemory memory) throws Exception {
      CrailInputStream stream = output.file().getDirectInputStream(0);
      streams.add(stream);
      for (int run = 0; run < index.runs(); run++) {
        long position = index.start(run, block.from());
        long end = index.end(run, block.to() - 1);
        while (position < end) {
          Piece piece = memory.take(end - position);
          pieces.add(piece);
          stream.seek(position);
          reads.add(stream.read(piece.buffer()));
          position += piece.length();
        }
      }
    }

    /**
     * Waits for the bytes and tells the listener.
     *
     * @param first whether this is the first attempt
     * @param mayWait whether there is time for another one
     * @return false when the block is worth another attempt; the listener has heard nothing
     */
    boolean finish(BlockListener listener, boolean first, boolean mayWait) {
      awaitReads();
      BlockData data = null;
      if (failure == null && streamed) {
        releasePieces();
        data = new StreamedBlock(output, block.from(), block.to());
      } else if (failure == null) {
        data = new BufferedBlock(pieces, output.index().length(block.from(), block.to()));
        try {
          verify();
        } catch (CorruptOutputException e) {
          failure = e;
        }
      }
      if (failure == null) {
        listener.fetched(block, data);
        return true;
      }
      releasePieces();
      outputs.forget(block.output());
      // Bytes may have been spoilt on their way, but hardly twice.
      if (failure instanceof CorruptOutputException ? first : mayWait && nobodyAnswered(failure)) {
        return false;
      }
      listener.failed(block, failure);
      return true;
    }

    private void releasePieces() {
      for (int i = 0; i < pieces.size(); i++) {
        strays.release(pieces.get(i)::release, i < reads.size() ? reads.get(i) : null);
      }
      pieces.clear();
    }

    private void awaitReads() {
      for (int i = 0; i < reads.size(); i++) {
        try {
          long length = reads.get(i).get().getLen();
          if (length != pieces.get(i).length() && failure == null) {
            failure = new CorruptOutputException(output.index() + " ends within " + block);
          }
        } catch (ExecutionException e) {
          failure = failure == null ? (Exception) e.getCause() : failure;
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          failure = e;
        }
      }
      for (CrailInputStream stream : streams) {
        try {
          stream.close();
        } catch (Exception e) {
          failure = failure == null ? e : failure;
        }
      }
    }

    /** Compares the checksum of each partition in each run. */
    private void verify() throws CorruptOutputException {
      OutputIndex index = output.index();
      CRC32C crc = new CRC32C();
      int piece = 0;
      int offset = 0;
      for (int run = 0; run < index.runs(); run++) {
        for (int partition = block.from(); partition < block.to(); partition++) {
          long left = index.end(run, partition) - index.start(run, partition);
          if (left == 0) {
            continue;
          }
          crc.reset();
          while (left > 0) {
            Piece present = pieces.get(piece);
            int count = (int) Math.min(left, present.length() - offset);
            crc.update(present.memory().duplicate().limit(offset + count).position(offset));
            left -= count;
            offset += count;
            if (offset == present.length()) {
              piece++;
              offset = 0;
            }
          }
          if ((int) crc.getValue() != index.checksum(run, partition)) {
            throw new CorruptOutputException(
                "wrong checksum of partition " + partition + " of " + index.id());
          }
        }
      }
    }
  }

  private static boolean nobodyAnswered(Exception failure) {
    return failure instanceof UnavailableException || failure instanceof CrailTimeoutException;
  }

  /** Ends the threads. Of blocks that are still on their way nobody hears. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
