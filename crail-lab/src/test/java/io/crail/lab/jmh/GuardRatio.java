/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Both times of a {@link GuardBenchmark}, and their ratio in each iteration, so that its error is
 * that of the ratio. Used by JMH's thread.
 */
public final class GuardRatio implements InternalProfiler {
  @Override
  public String getDescription() {
    return "time of guarded appends by that of plain ones";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {}

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    double plain = score(result, "plainNanos");
    double guarded = score(result, "guardedNanos");
    // Half of them are of each kind.
    double operations = result.getMetadata().getAllOps() / 2.0;
    return List.of(
        new ScalarResult("plain-time", plain / operations, "ns/op", AggregationPolicy.AVG),
        new ScalarResult("guarded-time", guarded / operations, "ns/op", AggregationPolicy.AVG),
        new ScalarResult("guarded-by-plain", guarded / plain, "", AggregationPolicy.AVG));
  }

  private static double score(IterationResult result, String name) {
    Result<?> times = result.getSecondaryResults().get(name);
    if (times == null) {
      throw new IllegalStateException("this is for GuardBenchmark: there is no " + name);
    }
    return times.getScore();
  }
}
