/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.lab.jmh.ThreadAllocation.Side;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The processor time that the threads of each side take for an operation. Other processes disturb
 * it less than they do the time that passes: {@code bin/jmh AppendBenchmark -prof
 * io.crail.lab.jmh.ThreadTime}. Used by JMH's thread.
 */
public final class ThreadTime implements InternalProfiler {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private Map<Long, Long> before = Map.of();

  @Override
  public String getDescription() {
    return "processor time of client, namenode and datanode";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    before = nanos();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    Map<Side, Long> sums = new EnumMap<>(Side.class);
    nanos()
        .forEach(
            (id, after) -> {
              ThreadInfo thread = THREADS.getThreadInfo(id);
              if (thread != null) {
                long own = after - before.getOrDefault(id, 0L);
                Side.of(thread.getThreadName()).ifPresent(side -> sums.merge(side, own, Long::sum));
              }
            });
    double operations = result.getMetadata().getAllOps();
    List<Result<?>> results = new ArrayList<>();
    sums.forEach(
        (side, nanos) ->
            results.add(
                new ScalarResult(
                    side + "-time", nanos / operations, "ns/op", AggregationPolicy.AVG)));
    return results;
  }

  private static Map<Long, Long> nanos() {
    Map<Long, Long> all = new HashMap<>();
    for (long id : THREADS.getAllThreadIds()) {
      long nanos = THREADS.getThreadCpuTime(id);
      if (nanos >= 0) {
        all.put(id, nanos);
      }
    }
    return all;
  }
}
