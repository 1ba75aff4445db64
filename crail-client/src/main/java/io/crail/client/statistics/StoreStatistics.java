/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import io.crail.CrailStatistics;
import io.crail.CrailStatistics.StatisticsProvider;
import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.memory.BufferPool;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.RequestCounters;
import io.crail.rpc.RpcPeer;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** What a store counts, under Apache Crail's provider names. Thread-safe. */
public final class StoreStatistics {
  /** What a store has at the moment. */
  public interface Present {
    /**
     * Datanodes that it is connected to; one that several loops are connected to counts for each.
     */
    long endpoints();

    /** Write leases of its open streams. */
    long writeLeases();

    /** Requests and transfers that have begun and not ended, or wait for their turn. */
    long outstanding();
  }

  private static final int NON_BLOCKING = 1;
  private static final int BLOCKING = 2;
  private static final int BYTES = 3;
  private static final int STREAMS = 4;

  private final boolean enabled;
  private final CrailStatistics statistics;
  private final CounterGroup input = pieces("core/input");
  private final CounterGroup output = pieces("core/output");
  private final OpenStreams streams = new OpenStreams();
  private final CounterGroup bufferedInput = operations("buffered/in");
  private final CounterGroup bufferedOutput = operations("buffered/out");
  private final RequestCounters requests = new RequestCounters();
  private final OperationCounters reads = new OperationCounters();
  private final OperationCounters writes = new OperationCounters();
  private final Map<String, ByteCounters> bytesByWay = new ConcurrentSkipListMap<>();

  /**
   * Creates the statistics.
   *
   * @param enabled whether anything is counted
   * @param present asked only when it is read
   */
  public StoreStatistics(boolean enabled, BufferPool pool, Present present) {
    this.enabled = enabled;
    this.statistics =
        enabled
            ? new StatisticsView(
                requests,
                new StatisticsView.Transfers(input, reads),
                new StatisticsView.Transfers(output, writes),
                bytesByWay,
                streams,
                pool,
                present::writeLeases,
                present::outstanding)
            : new CrailStatistics();
    if (enabled) {
      statistics.addProvider(input);
      statistics.addProvider(output);
      statistics.addProvider(streams);
      statistics.addProvider(bufferedInput);
      statistics.addProvider(bufferedOutput);
      statistics.addProvider(new PoolGauge(pool));
      statistics.addProvider(new EndpointGauge(present));
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

  /** Counts the requests of a loop with this clock. */
  public RpcPeer.Listener requestsOf(Clock clock) {
    return enabled ? requests.onLoop(clock) : RpcPeer.Listener.NONE;
  }

  /** Bytes over the network to a tier. */
  public ByteCounters bytesTo(String tier) {
    return bytesByWay.computeIfAbsent(tier, name -> new ByteCounters());
  }

  /** Bytes within this host. */
  public ByteCounters localBytes() {
    return bytesTo(ByteCounters.LOCAL);
  }

  /**
   * Whether an operation that begins now has its time taken, as one of 256: a copy within this host
   * may take as little as two readings of the clock. These bits of the clock are as good as random,
   * and need no counter.
   */
  public static boolean isTimed(long nowNanos) {
    return (nowNanos & 0xFF0) == 0;
  }

  /**
   * Counts the end of a read or write of a stream, whose time was taken or which failed.
   *
   * @param nanos how long it took; negative when that is not known
   * @param failure null when it has succeeded
   */
  public void transferEnded(boolean isWrite, long nanos, CrailException failure) {
    OperationCounters counters = isWrite ? writes : reads;
    if (nanos >= 0) {
      counters.served(1, nanos);
    }
    if (failure != null) {
      counters.failed(failure.code());
    }
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
      addSoFar(input, counters);
      input.add(STREAMS, 1);
    }
  }

  /** Counts the end of an output stream, and what it has counted. */
  public void outputClosed(StreamCounters counters) {
    if (enabled) {
      streams.output.closed();
      addSoFar(output, counters);
      output.add(STREAMS, 1);
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

  /** Adds what an open direct stream has counted. In the thread that uses it. */
  public void goesOn(boolean isWriter, StreamCounters counters) {
    if (enabled) {
      addSoFar(isWriter ? output : input, counters);
    }
  }

  private static void addSoFar(CounterGroup group, StreamCounters counters) {
    counters.settle();
    addOperations(group, counters);
    group.add(StatisticsView.LOCAL, counters.takeLocalPieces());
    group.add(StatisticsView.REMOTE, counters.takeRemotePieces());
    group.add(StatisticsView.CACHED, counters.takeCachedPieces());
  }

  private void add(CounterGroup group, StreamCounters counters) {
    if (enabled) {
      addOperations(group, counters);
      group.add(STREAMS, 1);
    }
  }

  private static void addOperations(CounterGroup group, StreamCounters counters) {
    group.add(StatisticsView.TOTAL, counters.operations());
    group.add(NON_BLOCKING, counters.atOnce());
    group.add(BLOCKING, counters.operations() - counters.atOnce());
    group.add(BYTES, counters.bytes());
    counters.operationsTaken();
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
  private record EndpointGauge(Present present) implements StatisticsProvider {
    @Override
    public String providerName() {
      return "cache/endpoint";
    }

    @Override
    public String printStatistics() {
      return "size " + present.endpoints();
    }

    @Override
    public void mergeStatistics(StatisticsProvider other) {}

    @Override
    public void resetStatistics() {}
  }
}
