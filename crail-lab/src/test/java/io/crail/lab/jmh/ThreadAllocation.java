/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The bytes that the threads of each side allocate for an operation: one result for each side that
 * has threads. Other threads, such as those of the compiler, are not counted, nor are timers: what
 * they allocate depends on the time that passes, so that it would grow with a slower machine. Used
 * by JMH's thread.
 */
public final class ThreadAllocation implements InternalProfiler {
  /**
   * The sides that work for an operation. All run in one process; the name of a thread gives its
   * side.
   */
  enum Side {
    /** Namenodes, and the service of calls that do nothing. */
    NAMENODE("crail-(namenode|echo)-.*(?<!-timer)"),

    /** Datanodes, and their connections to the namenode. */
    DATANODE("crail-(datanode|storage).*"),

    /** All other threads of Crail, and the threads that call it. */
    CLIENT("crail-.*(?<!-timer)|.*-jmh-worker-.*");

    private final Pattern threads;

    Side(String threads) {
      this.threads = Pattern.compile(threads);
    }

    static Optional<Side> of(String thread) {
      for (Side side : values()) {
        if (side.threads.matcher(thread).matches()) {
          return Optional.of(side);
        }
      }
      return Optional.empty();
    }
  }

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Map<Long, Long> before = Map.of();

  @Override
  public String getDescription() {
    return "bytes allocated by client, namenode and datanode";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    before = allocated();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    Map<Long, Long> after = allocated();
    Map<Side, Long> sums = new EnumMap<>(Side.class);
    for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
      if (thread == null || !after.containsKey(thread.getThreadId())) {
        continue;
      }
      long id = thread.getThreadId();
      long bytes = after.get(id) - before.getOrDefault(id, 0L);
      Side.of(thread.getThreadName()).ifPresent(side -> sums.merge(side, bytes, Long::sum));
    }
    double operations = result.getMetadata().getAllOps();
    List<Result<?>> results = new ArrayList<>();
    sums.forEach(
        (side, bytes) ->
            results.add(
                new ScalarResult(side.name(), bytes / operations, "B/op", AggregationPolicy.AVG)));
    return results;
  }

  private static Map<Long, Long> allocated() {
    long[] ids = THREADS.getAllThreadIds();
    long[] bytes = THREADS.getThreadAllocatedBytes(ids);
    Map<Long, Long> all = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      if (bytes[i] >= 0) {
        all.put(ids[i], bytes[i]);
      }
    }
    return all;
  }
}
