/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.CacheStore.Put;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import io.crail.common.Threads;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks of files: in the memory of this process, in Crail, or at the source. A block is
 * fetched by one thread of this process, and, if it is not in Crail, by one process. Whoever reads
 * a block from the source has it at once; it is put into Crail afterwards. Thread-safe.
 */
final class BlockCache implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockCache.class);

  private static final int PUTTERS = 2;
  private static final int FETCHERS = 4;
  private static final long IDLE_SECONDS = 5;

  /** How often a thread waits for others, whose block is gone when it looks. */
  private static final int MOST_ATTEMPTS = 4;

  private final CacheStore crail;
  private final CacheNames names;
  private final BlockMemory memory;
  private final LoadClaims claims;
  private final CacheBudget budget;
  private final AccessStamps stamps;
  private final CacheSettings settings;
  private final CacheStatistics statistics;

  /** Blocks that are being fetched, by name. */
  private final ConcurrentMap<String, CompletableFuture<Block>> fetches = new ConcurrentHashMap<>();

  private final ThreadPoolExecutor putters = pool("crail-cache-put", PUTTERS);
  private final ThreadPoolExecutor fetchers = pool("crail-cache-ahead", FETCHERS);

  /** Blocks that may be fetched ahead at the same time: half of the memory is for those in use. */
  private final Semaphore ahead;

  BlockCache(
      CacheStore crail,
      CacheNames names,
      LoadClaims claims,
      CacheBudget budget,
      AccessStamps stamps,
      CacheSettings settings,
      CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.memory = new BlockMemory(settings.blockBytes(), settings.memoryBlocks());
    this.claims = claims;
    this.budget = budget;
    this.stamps = stamps;
    this.settings = settings;
    this.statistics = statistics;
    this.ahead = new Semaphore(settings.memoryBlocks() / 2);
  }

  /** Threads that end when there is nothing to do. What waits is bounded by the memory. */
  private static ThreadPoolExecutor pool(String name, int threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Threads.factory(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Finds a block or fetches it.
   *
   * @return the block, pinned; null if the caller is to read from the source, since there is no
   *     memory, or another thread has had no success
   * @throws IOException the error of the source
   */
  Block block(CachedFile file, long index) throws IOException {
    String name = names.block(file.identity(), index);
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Block held = memory.find(name);
      if (held != null) {
        statistics.increment(Counter.MEMORY_HITS);
        stamps.used(name);
        return held;
      }
      CompletableFuture<Block> mine = new CompletableFuture<>();
      CompletableFuture<Block> other = fetches.putIfAbsent(name, mine);
      if (other == null) {
        return fetch(file, index, name, true, mine);
      }
      Block theirs;
      try {
        theirs = other.get(settings.patienceMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException | TimeoutException e) {
        // Who waits does not try the same, one after the other.
        LOG.debug("another thread has failed, or is slow", e);
        return null;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return null;
      }
      if (theirs != null && theirs.pin()) {
        statistics.increment(Counter.MEMORY_HITS);
        return theirs;
      }
    }
    return null;
  }

  /** Begins to fetch a block that may be read soon, if there is memory to spare. */
  void ahead(CachedFile file, long index) {
    String name = names.block(file.identity(), index);
    if (!crail.mayAsk() || fetches.containsKey(name) || memory.has(name) || !ahead.tryAcquire()) {
      return;
    }
    try {
      fetchers.execute(
          () -> {
            try {
              fetchAhead(file, index, name);
            } finally {
              ahead.release();
            }
          });
    } catch (RejectedExecutionException e) {
      // The file system is closed.
      ahead.release();
    }
  }

  private void fetchAhead(CachedFile file, long index, String name) {
    CompletableFuture<Block> mine = new CompletableFuture<>();
    if (memory.has(name) || fetches.putIfAbsent(name, mine) != null) {
      return;
    }
    try {
      Block block = fetch(file, index, name, false, mine);
      if (block != null) {
        block.unpin();
      }
    } catch (IOException | RuntimeException e) {
      // Who reads the block meets the error, if it is still there.
      LOG.debug("not fetched ahead: {}", name, e);
    }
  }

  /** Fetches a block, for all threads that wait for it. */
  private Block fetch(
      CachedFile file, long index, String name, boolean waits, CompletableFuture<Block> mine)
      throws IOException {
    Block block = null;
    Exception failure = null;
    try {
      // Another thread may have ended its fetch just before this one began.
      block = memory.find(name);
      if (block == null) {
        block = fetch(file, index, name, waits);
      }
      return block;
    } catch (IOException | RuntimeException e) {
      failure = e;
      throw e;
    } finally {
      fetches.remove(name, mine);
      if (failure == null) {
        mine.complete(block);
      } else {
        mine.completeExceptionally(failure);
      }
    }
  }

  private Block fetch(CachedFile file, long index, String name, boolean waits) throws IOException {
    Block block = memory.allocate();
    if (block == null) {
      return null;
    }
    boolean kept = false;
    try {
      kept = get(file, index, name, block) || load(file, index, name, waits, block);
    } finally {
      if (!kept) {
        memory.discard(block);
      }
    }
    return kept ? block : null;
  }

  /** Gets a block from Crail. */
  private boolean get(CachedFile file, long index, String name, Block block) {
    if (crail.get(name, block.empty()) != file.bytesOf(index)) {
      return false;
    }
    statistics.increment(Counter.HITS);
    statistics.add(Counter.HIT_BYTES, file.bytesOf(index));
    stamps.used(name);
    keep(file, index, name, block);
    return true;
  }

  private void keep(CachedFile file, long index, String name, Block block) {
    block.filled(file.bytesOf(index));
    memory.keep(name, block);
  }

  /**
   * Loads a block from the source, or finds that another process has loaded it. While Crail does
   * not answer, the block is for this process alone.
   */
  private boolean load(CachedFile file, long index, String name, boolean waits, Block block)
      throws IOException {
    statistics.increment(crail.mayAsk() ? Counter.MISSES : Counter.FALLBACKS);
    Claim claim = claims.claim(name, waits, () -> get(file, index, name, block));
    if (claim.outcome() == Outcome.LOADED) {
      statistics.increment(Counter.CLAIM_WAITS);
      return true;
    }
    if (claim.outcome() == Outcome.TAKEN) {
      return false;
    }
    boolean put = false;
    try {
      // It may have come between the miss and the claim.
      if (claim.outcome() == Outcome.CLAIMED && get(file, index, name, block)) {
        return true;
      }
      boolean known =
          file.source().readFully(index * file.blockBytes(), block.room(file.bytesOf(index)));
      statistics.increment(Counter.LOADS);
      keep(file, index, name, block);
      put = known && putLater(name, block, claim);
      return true;
    } finally {
      if (!put) {
        claims.end(claim);
      }
    }
  }

  /** What a load of a block came to. */
  enum Loaded {
    /** It was in Crail. */
    THERE,
    /** It was read from the source. */
    READ,
    /** It is not in Crail: there is no room, or Crail does not answer. */
    REFUSED
  }

  /**
   * Sees to it that a block is in Crail, and waits for that. Its bytes do not stay in the memory of
   * this process.
   *
   * @param usedBeforeMillis only blocks that were last used before this time make room for it
   * @throws IOException the error of the source
   */
  Loaded load(CachedFile file, long index, long usedBeforeMillis) throws IOException {
    String name = names.block(file.identity(), index);
    BooleanSupplier isThere = () -> crail.length(name) == file.bytesOf(index);
    if (isThere.getAsBoolean()) {
      stamps.used(name);
      return Loaded.THERE;
    }
    // As many as there is memory for.
    ahead.acquireUninterruptibly();
    Block block = crail.mayAsk() ? memory.allocate() : null;
    try {
      return block == null
          ? Loaded.REFUSED
          : load(file, index, name, isThere, block, usedBeforeMillis);
    } finally {
      if (block != null) {
        memory.discard(block);
      }
      ahead.release();
    }
  }

  private Loaded load(
      CachedFile file,
      long index,
      String name,
      BooleanSupplier isThere,
      Block block,
      long usedBeforeMillis)
      throws IOException {
    Claim claim = claims.claim(name, true, isThere);
    try {
      if (claim.outcome() == Outcome.LOADED
          || claim.outcome() == Outcome.CLAIMED && isThere.getAsBoolean()) {
        return Loaded.THERE;
      }
      int bytes = file.bytesOf(index);
      boolean known = file.source().readFully(index * file.blockBytes(), block.room(bytes));
      statistics.increment(Counter.LOADS);
      block.filled(bytes);
      return known && put(name, block, usedBeforeMillis) ? Loaded.READ : Loaded.REFUSED;
    } finally {
      claims.end(claim);
      budget.tidy();
    }
  }

  private boolean putLater(String name, Block block, Claim claim) {
    if (!block.pin()) {
      throw new AssertionError("the caller has pinned it");
    }
    try {
      putters.execute(new Putting(name, block, claim));
      return true;
    } catch (RejectedExecutionException e) {
      // The file system is closed.
      block.unpin();
      return false;
    }
  }

  /** A block that is to be put. */
  private final class Putting implements Runnable {
    private final String name;
    private final Block block;
    private final Claim claim;

    Putting(String name, Block block, Claim claim) {
      this.name = name;
      this.block = block;
      this.claim = claim;
    }

    @Override
    public void run() {
      try {
        if (crail.mayAsk()) {
          put(name, block, Long.MAX_VALUE);
        }
      } finally {
        end();
      }
      budget.tidy();
    }

    /** So that others do not wait for it. */
    void end() {
      block.unpin();
      claims.end(claim);
    }
  }

  /** Puts a block, if there is room for it; returns whether it is in Crail. */
  private boolean put(String name, Block block, long usedBeforeMillis) {
    Put outcome = Put.FAILED;
    if (budget.admits(block.length(), usedBeforeMillis)) {
      try {
        outcome = crail.put(name, block.content());
        if (outcome == Put.FULL) {
          budget.refused(block.length(), usedBeforeMillis);
          outcome = crail.put(name, block.content());
        }
      } finally {
        budget.hasBeenPut(block.length());
      }
    }
    if (outcome == Put.DONE) {
      stamps.made(name);
      statistics.increment(Counter.PUTS);
      statistics.add(Counter.PUT_BYTES, block.length());
    } else {
      statistics.increment(Counter.REFUSALS);
    }
    return outcome == Put.DONE;
  }

  /** Waits for the blocks that are being put, for a while. */
  @Override
  public void close() {
    fetchers.shutdownNow();
    putters.shutdown();
    try {
      long mostMillis = settings.probe().toMillis();
      putters.awaitTermination(mostMillis, TimeUnit.MILLISECONDS);
      fetchers.awaitTermination(mostMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (Runnable each : putters.shutdownNow()) {
      ((Putting) each).end();
    }
    memory.close();
  }
}
