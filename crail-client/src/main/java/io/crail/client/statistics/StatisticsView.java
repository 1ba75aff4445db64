/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import io.crail.CrailStatistics;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.RequestCounters;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** The counters of a store, as its user sees them. Thread-safe. */
final class StatisticsView extends CrailStatistics {
  // Indexes of counters of direct streams.
  static final int TOTAL = 0;
  static final int LOCAL = 5;
  static final int REMOTE = 6;
  static final int CACHED = 7;

  private final RequestCounters requests;
  private final Transfers reads;
  private final Transfers writes;
  private final Map<String, ByteCounters> bytesByWay;
  private final OpenStreams streams;
  private final BufferPool pool;
  private final LongSupplier writeLeases;
  private final LongSupplier outstanding;
  private final List<OperationStatistics> operations;

  /**
   * What is known of the operations of direct streams.
   *
   * @param closed the counts of closed streams
   * @param counters the errors, and the times of a sample
   */
  record Transfers(CounterGroup closed, OperationCounters counters) {
    private long count() {
      return closed.value(TOTAL);
    }

    private long located() {
      return closed.value(CACHED);
    }

    private long pieces() {
      return closed.value(LOCAL) + closed.value(REMOTE);
    }
  }

  /** An operation by its name. */
  private record Counted(String name, LongSupplier count, OperationCounters counters)
      implements OperationStatistics {
    @Override
    public String getName() {
      return name;
    }

    @Override
    public long getCount() {
      return count.getAsLong();
    }

    @Override
    public Map<ErrorCode, Long> getErrors() {
      Map<ErrorCode, Long> errors = new EnumMap<>(ErrorCode.class);
      for (ErrorCode code : ErrorCode.values()) {
        long met = counters.errors(code);
        if (met > 0) {
          errors.put(code, met);
        }
      }
      return errors;
    }

    @Override
    public long getLatencyNanos(double share) {
      return counters.quantileNanos(share);
    }
  }

  StatisticsView(
      RequestCounters requests,
      Transfers reads,
      Transfers writes,
      Map<String, ByteCounters> bytesByWay,
      OpenStreams streams,
      BufferPool pool,
      LongSupplier writeLeases,
      LongSupplier outstanding) {
    this.requests = requests;
    this.reads = reads;
    this.writes = writes;
    this.bytesByWay = bytesByWay;
    this.streams = streams;
    this.pool = pool;
    this.writeLeases = writeLeases;
    this.outstanding = outstanding;
    List<OperationStatistics> all = new ArrayList<>();
    NameNodeOperations.all()
        .values()
        .forEach(
            operation ->
                all.add(
                    new Counted(
                        operation.name(),
                        () -> requests.count(operation),
                        requests.counters(operation))));
    all.add(new Counted("read", reads::count, reads.counters));
    all.add(new Counted("write", writes::count, writes.counters));
    this.operations = Collections.unmodifiableList(all);
  }

  @Override
  public List<OperationStatistics> getOperations() {
    return operations;
  }

  @Override
  public Map<String, Long> getBytesRead() {
    return bytes(false);
  }

  @Override
  public Map<String, Long> getBytesWritten() {
    return bytes(true);
  }

  private Map<String, Long> bytes(boolean areWritten) {
    Map<String, Long> bytes = new TreeMap<>();
    bytesByWay.forEach((way, each) -> bytes.put(way, each.bytes(areWritten).sum()));
    return bytes;
  }

  @Override
  public long getLocationHits() {
    return reads.located() + writes.located();
  }

  @Override
  public long getLocationMisses() {
    return Math.max(0, reads.pieces() + writes.pieces() - getLocationHits());
  }

  @Override
  public long getWriteLeases() {
    return writeLeases.getAsLong();
  }

  @Override
  public long getOpenInputStreams() {
    return streams.input.present();
  }

  @Override
  public long getOpenOutputStreams() {
    return streams.output.present();
  }

  @Override
  public long getLentBuffers() {
    return Math.max(0, pool.lentCount() - pool.returnedCount());
  }

  @Override
  public long getBufferBytes() {
    return pool.allocatedBytes();
  }

  @Override
  public long getOutstandingOperations() {
    return outstanding.getAsLong();
  }

  @Override
  public void reset() {
    super.reset();
    requests.reset();
    reads.counters.reset();
    writes.counters.reset();
    bytesByWay.values().forEach(ByteCounters::reset);
  }
}
