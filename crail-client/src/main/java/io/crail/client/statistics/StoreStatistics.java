/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import io.crail.CrailStatistics;
import io.crail.CrailStatistics.StatisticsProvider;
import io.crail.memory.BufferPool;
import java.util.function.LongSupplier;

/** What a store counts, under Apache Crail's provider names. Thread-safe. */
public final class StoreStatistics {
  private static final int TOTAL = 0;
  private static final int NON_BLOCKING = 1;
  private static final int BLOCKING = 2;
  private static final int BYTES = 3;
  private static final int STREAMS = 4;

  private static final int LOCAL = 5;
  private static final int REMOTE = 6;
  private static final int CACHED = 7;

  private final CrailStatistics statistics = new CrailStatistics();
  private final boolean enabled;
  private final CounterGroup input = pieces("core/input");
  private final CounterGroup output = pieces("core/output");
  private final OpenStreams streams = new OpenStreams();
  private final CounterGroup bufferedInput = operations("buffered/in");
  private final CounterGroup bufferedOutput = operations("buffered/out");

  /**
   * Creates the statistics.
   *
   * @param enabled whether anything is counted
   * @param endpoints the number of endpoints
   */
  public StoreStatistics(boolean enabled, BufferPool pool, LongSupplier endpoints) {
    this.enabled = enabled;
    if (enabled) {
      statistics.addProvider(input);
      statistics.addProvider(output);
      statistics.addProvider(streams);
      statistics.addProvider(bufferedInput);
      statistics.addProvider(bufferedOutput);
      statistics.addProvider(new PoolGauge(pool));
      statistics.addProvider(new EndpointGauge(endpoints));
    }
  }

  private static CounterGroup operations(String provider) {
    return new CounterGroup(
        provider, "totalOps", "nonBlockingOps", "blockingOps", "bytes", "totalStreams");
  }

  private static CounterGroup pieces(String provider) {
    return new CounterGroup(
        provider,
        "totalOps",
        "nonBlockingOps",
        "blockingOps",
        "bytes",
        "totalStreams",
        "localOps",
        "remoteOps",
        "cached");
  }

  /** The statistics as the user sees them. */
  public CrailStatistics statistics() {
    return statistics;
  }

  /** Counts an input stream. */
  public void inputOpened() {
    if (enabled) {
      streams.input.opened();
    }
  }

  /** Counts an output stream. */
  public void outputOpened() {
    if (enabled) {
      streams.output.opened();
    }
  }

  /** Counts the end of an input stream, and what it has counted. */
  public void inputClosed(StreamCounters counters) {
    if (enabled) {
      streams.input.closed();
      addPieces(input, counters);
    }
  }

  /** Counts the end of an output stream, and what it has counted. */
  public void outputClosed(StreamCounters counters) {
    if (enabled) {
      streams.output.closed();
      addPieces(output, counters);
    }
  }

  /** Adds the counts of a buffered input stream. */
  public void bufferedInputClosed(StreamCounters counters) {
    add(bufferedInput, counters);
  }

  /** Adds the counts of a buffered output stream. */
  public void bufferedOutputClosed(StreamCounters counters) {
    add(bufferedOutput, counters);
  }

  private void addPieces(CounterGroup group, StreamCounters counters) {
    add(group, counters);
    group.add(LOCAL, counters.localPieces());
    group.add(REMOTE, counters.remotePieces());
    group.add(CACHED, counters.cachedPieces());
  }

  private void add(CounterGroup group, StreamCounters counters) {
    if (enabled) {
      group.add(TOTAL, counters.operations());
      group.add(NON_BLOCKING, counters.atOnce());
      group.add(BLOCKING, counters.operations() - counters.atOnce());
      group.add(BYTES, counters.bytes());
      group.add(STREAMS, 1);
    }
  }

  /** The buffer pool's own counters; not reset, since they describe the present state. */
  private record PoolGauge(BufferPool pool) implements StatisticsProvider {
    @Override
    public String providerName() {
      return "cache/buffer";
    }

    @Override
    public String printStatistics() {
      return "cacheGet "
          + pool.lentCount()
          + ", cachePut "
          + pool.returnedCount()
          + ", cacheMiss "
          + pool.missCount()
          + ", cacheSize "
          + pool.allocatedBytes();
    }

    @Override
    public void mergeStatistics(StatisticsProvider other) {}

    @Override
    public void resetStatistics() {}
  }

  /** The number of endpoints; not reset, since it describes the present state. */
  private record EndpointGauge(LongSupplier endpoints) implements StatisticsProvider {
    @Override
    public String providerName() {
      return "cache/endpoint";
    }

    @Override
    public String printStatistics() {
      return "size " + endpoints.getAsLong();
    }

    @Override
    public void mergeStatistics(StatisticsProvider other) {}

    @Override
    public void resetStatistics() {}
  }
}
