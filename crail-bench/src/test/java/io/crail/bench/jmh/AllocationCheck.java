/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.jmh;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Fails when an operation of a hot path allocates more than it may: nothing, but for what the API
 * gives the caller and what Netty needs for a message. Client and servers are one process here, so
 * it is what both ends allocate. The least of some iterations counts: what happens now and then,
 * such as a sign of life, is in others. {@code bin/jmh --check} runs it.
 */
public final class AllocationCheck {
  /** Below it, nothing is allocated: what the profiler and the clock cost, over an iteration. */
  private static final double NOTHING = 0.5;

  private static final int WARM_UPS = 2;
  private static final int MORE_WARM_UPS = 10;
  private static final int ITERATIONS = 3;
  private static final TimeValue WARM_UP = TimeValue.milliseconds(500);
  private static final TimeValue ITERATION = TimeValue.milliseconds(200);
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  private static final Map<String, String> MAPPED = Map.of("mapped", "true", "size", "4096");
  private static final Map<String, String> TCP = Map.of("mapped", "false", "size", "4096");

  /**
   * What may be allocated, in bytes for each operation at both ends together.
   *
   * @param benchmark class and method
   * @param parameters of it
   * @param limit in bytes
   * @param why it may be more than nothing
   */
  private record Hot(String benchmark, Map<String, String> parameters, double limit, String why) {
    String name() {
      String how = parameters.isEmpty() ? "" : parameters == MAPPED ? ", mapped" : ", TCP";
      return benchmark + how;
    }
  }

  private static final List<Hot> HOT =
      List.of(
          new Hot("RpcBenchmark.manyInFlight", Map.of(), 2, "Netty's entry, once for a batch"),
          new Hot("RpcBenchmark.oneInFlight", Map.of(), 80, "Netty's entry for a write"),
          new Hot("NamenodeLookupBenchmark.manyInFlight", Map.of(), 2, "as RpcBenchmark"),
          new Hot("NamenodeLookupBenchmark.oneInFlight", Map.of(), 80, "as RpcBenchmark"),
          new Hot("TransferBenchmark.read", MAPPED, NOTHING, ""),
          new Hot("TransferBenchmark.write", MAPPED, NOTHING, ""),
          new Hot("TransferBenchmark.readMany", TCP, 90, "Netty's entry for a message"),
          new Hot("TransferBenchmark.writeMany", TCP, 180, "Netty's entries, header and bytes"),
          new Hot("StreamBenchmark.read", MAPPED, 250, "the caller's future and result"),
          new Hot("StreamBenchmark.write", MAPPED, 250, "the caller's future and result"),
          new Hot("StoreBenchmark.lookupMany", Map.of(), 400, "the caller's future, node, path"));

  private AllocationCheck() {}

  /** Checks all of them; exit code 1 when one allocates more than it may. */
  public static void main(String[] args) throws RunnerException {
    long begin = System.nanoTime();
    boolean failed = false;
    System.out.println("| hot path | bytes | at most | what for |\n|---|---|---|---|");
    for (Hot hot : HOT) {
      double bytes = measure(hot, WARM_UPS);
      if (bytes > hot.limit) {
        System.err.printf(
            Locale.ROOT, "%s allocated %.2f bytes; once more ...%n", hot.name(), bytes);
        // On a busy machine it may not have been compiled yet.
        bytes = measure(hot, MORE_WARM_UPS);
      }
      boolean tooMuch = bytes > hot.limit;
      failed |= tooMuch;
      System.out.printf(
          Locale.ROOT,
          "| %s | %.2f | %s | %s%s |%n",
          hot.name(),
          bytes,
          hot.limit == NOTHING ? "0" : String.format(Locale.ROOT, "%.0f", hot.limit),
          hot.why,
          tooMuch ? " TOO MUCH" : "");
    }
    System.err.printf(
        Locale.ROOT, "checked in %d s%n", (System.nanoTime() - begin) / 1_000_000_000);
    System.exit(failed ? 1 : 0);
  }

  private static double measure(Hot hot, int warmUps) throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\." + hot.benchmark.replace(".", "\\.") + "$")
            // Bytes are the same in a process of its own, which would take a second more each.
            .forks(0)
            .warmupIterations(warmUps)
            .warmupTime(WARM_UP)
            .measurementIterations(ITERATIONS)
            .measurementTime(ITERATION)
            .addProfiler(GCProfiler.class)
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true);
    hot.parameters.forEach(options::param);
    Collection<RunResult> results = new Runner(options.build()).run();
    double least = Double.MAX_VALUE;
    for (RunResult result : results) {
      for (IterationResult iteration :
          result.getBenchmarkResults().iterator().next().getIterationResults()) {
        least = Math.min(least, allocated(iteration));
      }
    }
    if (least == Double.MAX_VALUE) {
      throw new IllegalStateException(hot.benchmark + " gave no result");
    }
    return least;
  }

  private static double allocated(IterationResult iteration) {
    for (String key : iteration.getSecondaryResults().keySet()) {
      if (key.endsWith(ALLOCATED)) {
        return iteration.getSecondaryResults().get(key).getScore();
      }
    }
    throw new IllegalStateException("no " + ALLOCATED);
  }
}
