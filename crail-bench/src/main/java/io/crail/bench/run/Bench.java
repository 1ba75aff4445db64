/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.BenchSyntax;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Workload;

/**
 * What differs between benchmarks. Used by one thread, for one command; what it opens is used by
 * several.
 *
 * @param <T> what it measures
 * @param <S> through what it measures: a store, a file system
 */
public interface Bench<T extends LoadType, S extends AutoCloseable> {
  /** What may be said to it. */
  BenchSyntax<T> syntax();

  /**
   * Called once, when the command line has been found good; may start a cluster.
   *
   * @return the options, with what was left open filled in
   */
  BenchOptions<T> begin(BenchOptions<T> options) throws Exception;

  /** What {@code begin} gave, in one line. */
  String describe(BenchOptions<T> options);

  /** Opens what is measured through. */
  S open() throws Exception;

  /**
   * How to measure the same in another process. What was begun in this one serves that one too: a
   * cluster that was started, say.
   */
  BenchClient.Start client();

  /**
   * A workload that has touched nothing yet.
   *
   * @param options those of one worker; several workers use what was opened at the same time
   */
  Workload workload(BenchOptions<T> options, S opened) throws Exception;
}
