/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * What a benchmark gets from the program that starts it.
 *
 * @param source gives the configuration of the cluster
 * @param embedded whether the cluster begins and ends with this process, so that nothing on it
 *     comes from an earlier run
 * @param out where the figures go
 * @param err where errors, notices and the progress bar go
 * @param terminal whether {@code err} is a terminal; only then is there a progress bar
 */
public record BenchContext(
    ConfigurationSource source,
    boolean embedded,
    PrintStream out,
    PrintStream err,
    boolean terminal) {
  /** Checks that nothing is missing. */
  public BenchContext {
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(out, "out");
    Objects.requireNonNull(err, "err");
  }

  /**
   * Where the remarks of a worker go. Only those of the first worker are printed, since the others
   * repeat them.
   */
  public PrintStream notices(BenchOptions<?> options) {
    return options.worker() == 0 ? err : nowhere();
  }

  /** Where the results that a workload prints go. A rehearsal has none. */
  public PrintStream results(BenchOptions<?> options) {
    return options.rehearsal() ? nowhere() : out;
  }

  private static PrintStream nowhere() {
    return new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
  }

  /** The same context with another output for figures. */
  BenchContext withOut(PrintStream other) {
    return new BenchContext(source, embedded, other, err, terminal);
  }

  /**
   * Gives the configuration of the cluster to measure. Called once, after the options have been
   * found valid, so that a mistyped command starts no cluster.
   */
  @FunctionalInterface
  public interface ConfigurationSource {
    /**
     * Gives the configuration. May start the cluster first.
     *
     * @throws IOException when there is no configuration; it says why
     */
    Configuration open() throws IOException;
  }
}
