/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.common.Threads;
import io.crail.spark.output.OutputPlace;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Fetches blocks for the tasks of one executor. Each host of the store has threads of its own, so
 * that waiting for a silent one does not delay the others. Thread-safe.
 */
public final class Fetcher implements AutoCloseable {
  /** A thread waits for another one's opening: for its lookup, and for the read of an index. */
  private static final Duration OPENING = Duration.ofSeconds(60);

  private static final long IDLE_SECONDS = 10;
  private static final long CLOSE_SECONDS = 30;

  private final int threadsPerHost;
  private final Duration patience;
  private final FetchTime time;
  private final FetchMemory memory;
  private final OutputCache outputs;

  /** As many as the store has. Guarded by this. */
  private final Map<String, Host> hosts = new HashMap<>();

  private boolean closed;

  /**
   * A host of the store.
   *
   * @param threads that wait for it; their queue holds what the windows of the executor's tasks let
   *     through
   */
  private record Host(ThreadPoolExecutor threads, HostPatience patience) {}

  /**
   * Limits of a fetcher.
   *
   * @param threadsPerHost threads for each host of the store, which end when they are idle
   * @param memoryBytes most bytes of the store's buffers that fetched blocks have
   * @param indexCacheBytes most bytes of indexes that are remembered
   * @param patience how long it tries again when no server answers
   */
  public record Limits(
      int threadsPerHost, long memoryBytes, long indexCacheBytes, Duration patience) {}

  /** Begins nothing yet. */
  public Fetcher(OutputPlace place, Limits limits) {
    this(place, limits, FetchTime.SYSTEM);
  }

  /** With a time of its own, for tests. */
  Fetcher(OutputPlace place, Limits limits, FetchTime time) {
    this.time = time;
    this.threadsPerHost = limits.threadsPerHost;
    this.patience = limits.patience;
    this.memory = new FetchMemory(place.store(), limits.memoryBytes);
    this.outputs = new OutputCache(place, memory, limits.indexCacheBytes, OPENING);
  }

  /**
   * Fetches blocks; returns at once. The listener hears of each block.
   *
   * @param host the name of the host whose datanodes have the blocks
   * @throws RejectedExecutionException when the fetcher is closed
   */
  public void fetch(String host, List<BlockRange> blocks, BlockListener listener) {
    Host known = host(host);
    FetchRequest request =
        new FetchRequest(
            outputs, memory, known.patience, blocks, listener, known.threads::isShutdown);
    known.threads.execute(request::run);
  }

  private synchronized Host host(String name) {
    if (closed) {
      throw new RejectedExecutionException("the fetcher is closed");
    }
    return hosts.computeIfAbsent(name, this::newHost);
  }

  private Host newHost(String name) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            threadsPerHost,
            threadsPerHost,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Threads.factory("crail-spark-fetch-" + name));
    threads.allowCoreThreadTimeOut(true);
    return new Host(threads, new HostPatience(patience, time));
  }

  /** Forgets what is known of a shuffle that was removed. */
  public void forgetShuffle(int shuffle) {
    outputs.forgetShuffle(shuffle);
  }

  /** Ends the threads. Blocks that are still on their way are dropped. */
  @Override
  public void close() {
    List<Host> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(hosts.values());
    }
    all.forEach(host -> host.threads.shutdownNow());
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
    try {
      for (Host host : all) {
        host.threads.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    memory.close();
  }
}
