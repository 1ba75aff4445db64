/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import java.nio.file.Path;
import java.util.List;

/**
 * How a load of any type is driven, and where its figures go.
 *
 * @param sizes bytes of an operation, to measure one after the other; empty when none were given
 * @param threads workers in each process
 * @param clients number of processes; 1 means this process
 * @param rate operations a second of all workers together; 0 means as fast as possible
 * @param json the file for the figures as JSON; {@code -} for standard output; null for none
 * @param plot the file for the chart; null for none
 * @param baselines files with earlier figures as JSON, for the chart
 * @param warmSeconds how long the load runs before the first experiment
 */
public record LoadSettings(
    List<Integer> sizes,
    int threads,
    int clients,
    double rate,
    String json,
    Path plot,
    List<Path> baselines,
    int warmSeconds) {
  /** The value of {@code json} for standard output. */
  static final String STANDARD_OUTPUT = "-";

  /** Copies the lists. */
  public LoadSettings {
    sizes = List.copyOf(sizes);
    baselines = List.copyOf(baselines);
  }

  /** The workers of all processes. */
  public int workers() {
    return threads * clients;
  }

  /** Whether operations start at a fixed rate instead of when earlier ones end. */
  public boolean isPaced() {
    return rate > 0;
  }

  /** Whether standard output is for JSON only. */
  public boolean printsJson() {
    return STANDARD_OUTPUT.equals(json);
  }

  /** A number without unnecessary digits. */
  public static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? String.valueOf((long) number)
        : String.valueOf(number);
  }
}
