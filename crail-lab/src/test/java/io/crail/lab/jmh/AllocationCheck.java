/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.lab.jmh.ThreadAllocation.Side;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Fails when an operation of a hot path allocates more than it may in the threads of client,
 * namenode or datanode. It may allocate nothing, except objects that the API returns to the caller,
 * what Netty needs for a message, and what the namenode keeps. Each limit is so tight that one more
 * object, of at least 16 bytes, exceeds it. The exception is the namenode's work for a new name,
 * which the compiler makes cheaper for as long as it runs.
 *
 * <p>The iteration that allocates least counts, since occasional work, such as a heartbeat, happens
 * in other iterations. Code that is not compiled yet allocates more. So a benchmark that exceeds
 * its limit is measured again until it is within the limit, or its time is up. {@code bin/jmh
 * --check} runs it.
 */
public final class AllocationCheck {
  /**
   * Below this, an operation allocates nothing: JMH and the clock allocate this much over an
   * iteration.
   */
  private static final double NOTHING = 0.5;

  /** There is no thread of this side. */
  private static final double ABSENT = -1;

  /** For each benchmark: one that needs many tries must not take those of the next ones. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(90);

  private static final int WARM_UPS = 2;
  private static final int ITERATIONS = 4;
  private static final long WARM_UP_MILLIS = 400;
  private static final long ITERATION_MILLIS = 150;

  private static final Map<String, String> ANY = Map.of();
  private static final Map<String, String> FEW = Map.of("files", "10000");
  private static final Map<String, String> MAPPED = Map.of("mapped", "true", "size", "4096");
  private static final Map<String, String> TCP = Map.of("mapped", "false", "size", "4096");

  /**
   * The allowed allocation, in bytes for each operation.
   *
   * @param benchmark class and method
   * @param parameters of the benchmark
   * @param client limit for the threads of the client
   * @param namenode limit for the threads of the namenode
   * @param datanode limit for the threads of the datanode
   * @param why the reason for a limit above nothing
   */
  private record Hot(
      String benchmark,
      Map<String, String> parameters,
      double client,
      double namenode,
      double datanode,
      String why) {
    String name() {
      return benchmark + (parameters == MAPPED ? ", mapped" : parameters == TCP ? ", TCP" : "");
    }

    double limit(Side side) {
      return switch (side) {
        case CLIENT -> client;
        case NAMENODE -> namenode;
        case DATANODE -> datanode;
      };
    }

    boolean isExceeded(Map<Side, Double> bytes) {
      return bytes.entrySet().stream().anyMatch(each -> each.getValue() > limit(each.getKey()));
    }
  }

  private static final List<Hot> HOT =
      List.of(
          // The most sensitive ones come first, since the compiler also learns from everything that
          // ran before.
          new Hot("StoreBenchmark.lookupMany", ANY, 256, NOTHING, NOTHING, "future, node, path"),
          new Hot("StoreBenchmark.get", ANY, 264, NOTHING, NOTHING, "future, result, path"),
          new Hot(
              "StoreBenchmark.lookupManyLarge",
              ANY,
              536,
              NOTHING,
              NOTHING,
              "the same as for lookupMany, and four extents"),
          new Hot("StreamBenchmark.read", MAPPED, 248, NOTHING, NOTHING, "future and result"),
          new Hot(
              "StreamBenchmark.write", MAPPED, 248, 2, NOTHING, "the same; a block now and then"),
          new Hot("TransferBenchmark.read", MAPPED, NOTHING, ABSENT, NOTHING, ""),
          new Hot("TransferBenchmark.write", MAPPED, NOTHING, ABSENT, NOTHING, ""),
          new Hot(
              "TransferBenchmark.readMany",
              TCP,
              72,
              ABSENT,
              NOTHING,
              "Netty's entry, once for a batch"),
          new Hot(
              "TransferBenchmark.writeMany",
              TCP,
              136,
              ABSENT,
              NOTHING,
              "the same, for header and bytes"),
          new Hot("NamenodeLookupBenchmark.manyInFlight", FEW, 4, NOTHING, NOTHING, "the same"),
          new Hot("NamenodeLookupBenchmark.oneInFlight", FEW, 72, NOTHING, NOTHING, "the same"),
          new Hot(
              "RpcBenchmark.manyInFlight", ANY, 4, NOTHING, ABSENT, "Netty's entry for a batch"),
          new Hot(
              "RpcBenchmark.oneInFlight", ANY, 72, NOTHING, ABSENT, "Netty's entry for a write"),
          new Hot("StoreBenchmark.put", ANY, 472, 144, NOTHING, "future, node, path; a record"),
          new Hot("StoreBenchmark.create", ANY, 512, 140, NOTHING, "future, node, path; a record"));

  private AllocationCheck() {}

  /** Checks all benchmarks. Exit code 1 when one allocates more than it may. */
  public static void main(String[] args) throws RunnerException {
    long begin = System.nanoTime();
    boolean failed = false;
    System.out.println(
        "| hot path | client | at most | namenode | at most | datanode | at most | what for |\n"
            + "|---|---|---|---|---|---|---|---|");
    for (Hot hot : HOT) {
      Map<Side, Double> bytes = measure(hot, System.nanoTime() + PATIENCE_NANOS);
      boolean tooMuch = hot.isExceeded(bytes);
      failed |= tooMuch;
      System.out.printf(
          "| %s |%s%s%s %s%s |%n",
          hot.name(),
          shown(hot, bytes, Side.CLIENT),
          shown(hot, bytes, Side.NAMENODE),
          shown(hot, bytes, Side.DATANODE),
          hot.why,
          tooMuch ? " TOO MUCH" : "");
    }
    System.err.printf(
        Locale.ROOT,
        "checked in %d s%n",
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
    System.exit(failed ? 1 : 0);
  }

  private static String shown(Hot hot, Map<Side, Double> bytes, Side side) {
    double limit = hot.limit(side);
    if (limit == ABSENT) {
      return " | |";
    }
    return String.format(
        Locale.ROOT, limit == NOTHING ? " %.2f | 0 |" : " %.2f | %.0f |", bytes.get(side), limit);
  }

  /** The least allocation that was measured, for each side. */
  private static Map<Side, Double> measure(Hot hot, long deadline) throws RunnerException {
    Map<Side, Double> least = new EnumMap<>(Side.class);
    // Each try takes longer: on a busy machine too few operations share the cost of JMH.
    for (int times = 1; ; times++) {
      measure(hot, times, least);
      if (!hot.isExceeded(least) || System.nanoTime() - deadline >= 0) {
        return least;
      }
      System.err.println(hot.name() + " allocated " + least + "; once more ...");
    }
  }

  private static void measure(Hot hot, int times, Map<Side, Double> least) throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\." + hot.benchmark.replace(".", "\\.") + "$")
            // Every second try runs in a new process, which takes a second more. It helps when the
            // compiler has generated bad code in this process, which is rare but permanent.
            .forks(times % 2 == 0 ? 1 : 0)
            .warmupIterations(WARM_UPS)
            .warmupTime(TimeValue.milliseconds(WARM_UP_MILLIS * times))
            .measurementIterations(ITERATIONS)
            .measurementTime(TimeValue.milliseconds(ITERATION_MILLIS * times))
            .addProfiler(ThreadAllocation.class)
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true);
    hot.parameters.forEach(options::param);
    Collection<RunResult> results = new Runner(options.build()).run();
    for (RunResult result : results) {
      List<IterationResult> iterations =
          List.copyOf(result.getBenchmarkResults().iterator().next().getIterationResults());
      // When the last iteration is reported, the benchmark is closed and its threads are gone.
      for (IterationResult iteration : iterations.subList(0, iterations.size() - 1)) {
        for (Side side : Side.values()) {
          // Each side has its own minimum, since occasional work may hit the two sides in different
          // iterations.
          least.merge(side, allocated(hot, iteration, side), Math::min);
        }
      }
    }
    if (least.isEmpty()) {
      throw new IllegalStateException(hot.name() + " gave no result");
    }
  }

  private static double allocated(Hot hot, IterationResult iteration, Side side) {
    Result<?> result = iteration.getSecondaryResults().get(side.name());
    if ((result == null) != (hot.limit(side) == ABSENT)) {
      // A thread with an unexpected name would not be counted.
      throw new IllegalStateException(
          hot.name() + ": " + (result == null ? "no" : "a") + " thread of the " + side);
    }
    return result == null ? ABSENT : result.getScore();
  }
}
