/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.client.statistics.StoreStatistics;
import io.crail.client.statistics.StreamCounters;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the figures of a stream cost each read: the counts, and for one read of 256 the clock and
 * the sums. {@link StreamBenchmark} has the time of a whole read, and clusters vary by more than
 * this.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class CountingBenchmark {
  /** Odd, so that the bits of the clock that choose a read take all values. */
  private static final long READ_NANOS = 437;

  private final StoreStatistics statistics = new StoreStatistics(true, null, null);
  private final StreamCounters counters = new StreamCounters();
  private final LongAdder way = new LongAdder();
  private long clock;

  /** A read of 4 bytes within the host. */
  @Benchmark
  public void read() {
    clock += READ_NANOS;
    counters.piece(true, way, 4);
    if (StoreStatistics.isTimed(clock)) {
      statistics.goesOn(false, counters);
      statistics.transferEnded(false, Math.abs(System.nanoTime()) & 0xFFF, null);
    }
    counters.operation(4, true);
  }
}
