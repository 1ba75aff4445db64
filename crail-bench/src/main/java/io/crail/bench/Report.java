/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Prints figures: Apache Crail's lines first, each with its unit. */
final class Report {
  private static final double BITS_PER_BYTE = 8;
  private static final double MEGA = 1e6;

  private final PrintStream out;

  /** Creates a report. */
  Report(PrintStream out) {
    this.out = out;
  }

  /** Prints one experiment. */
  void print(Figures figures) {
    line("execution time %.6f s", figures.seconds());
    line("ops %d", figures.operations());
    line("sumbytes %d", figures.bytes());
    line(
        "throughput %.1f ops/s, %.2f Mbit/s, %.2f MB/s",
        figures.operationsPerSecond(),
        figures.bytesPerSecond() * BITS_PER_BYTE / MEGA,
        figures.bytesPerSecond() / MEGA);
    line("latency %.2f us", figures.meanMicros());
    line(
        "latency p50 %.2f us, p99 %.2f us, p99.9 %.2f us, max %.2f us",
        figures.percentileMicros(50),
        figures.percentileMicros(99),
        figures.percentileMicros(99.9),
        figures.maxMicros());
  }

  /** Prints what several experiments gave together. */
  void printSummary(List<Figures> experiments) {
    line("summary of %d experiments", experiments.size());
    spread("throughput", "ops/s", experiments, Figures::operationsPerSecond);
    if (experiments.get(0).bytes() > 0) {
      spread("throughput", "MB/s", experiments, figures -> figures.bytesPerSecond() / MEGA);
    }
    print(Figures.sum(experiments));
  }

  private void spread(
      String what, String unit, List<Figures> experiments, ToDoubleFunction<Figures> value) {
    double[] sorted = experiments.stream().mapToDouble(value).sorted().toArray();
    line(
        "%s %s: median %.1f, lowest %.1f, highest %.1f",
        what, unit, median(sorted), sorted[0], sorted[sorted.length - 1]);
  }

  /** The median of sorted values. */
  static double median(double[] sorted) {
    double[] values = Arrays.copyOf(sorted, sorted.length);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  private void line(String format, Object... arguments) {
    out.println(String.format(Locale.ROOT, format, arguments));
  }
}
