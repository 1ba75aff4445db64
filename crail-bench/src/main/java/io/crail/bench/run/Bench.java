/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.BenchSyntax;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Workload;
import io.crail.common.config.Configuration;
import java.util.Map;

/**
 * The parts that differ between benchmarks. One thread uses a benchmark, for one command. Several
 * threads use the result of {@link #open}.
 *
 * @param <T> the types of measurement
 * @param <S> the object to measure through: a store or a file system
 */
public interface Bench<T extends LoadType, S extends AutoCloseable> {
  /**
   * How to start a benchmark in another process.
   *
   * @param main the class whose {@code main} calls {@code BenchClient.run}
   * @param configuration the cluster's configuration
   * @param more values that only this benchmark knows
   */
  record Start(Class<?> main, Configuration configuration, Map<String, String> more) {}

  /** The command line. */
  BenchSyntax<T> syntax();

  /**
   * Called once, after the command line has been found valid. May start a cluster.
   *
   * @return the options, with missing values filled in
   */
  BenchOptions<T> begin(BenchOptions<T> options) throws Exception;

  /** The options that {@code begin} returned, in one line. */
  String describe(BenchOptions<T> options);

  /** Opens the store or file system. */
  S open() throws Exception;

  /**
   * How to measure the same in another process. That process uses the same cluster, even one that
   * this process has started.
   */
  Start client();

  /**
   * Makes a workload, which has not touched the cluster yet.
   *
   * @param options the options of one worker; several workers use {@code opened} at the same time
   */
  Workload workload(BenchOptions<T> options, S opened) throws Exception;

  /**
   * Bytes of removed files that cannot be used again yet. On some tiers they rest, until no earlier
   * write can reach them. 0 for types that remove no files.
   */
  default long restingBytes(BenchOptions<T> options, S opened) throws Exception {
    return 0;
  }
}
