/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.chart.Spread;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.record.Figures;
import io.crail.bench.record.Pace;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Prints figures: first the lines of Apache Crail, each with its unit. */
public final class Report {
  private static final double BITS_PER_BYTE = 8;
  private static final double MEGA = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;

  /** A rate counts as missed when the run takes longer than planned by more than this fraction. */
  private static final double TOLERANCE = 0.02;

  private static final long LEAST_LATE_NANOS = 10_000_000;

  private final PrintStream out;

  /** Creates a report. */
  public Report(PrintStream out) {
    this.out = out;
  }

  /** Prints one experiment. */
  public void print(Figures figures) {
    line("execution time %.6f s", figures.seconds());
    line("ops %d", figures.operations());
    line("sumbytes %d", figures.bytes());
    if (figures.bytes() > 0) {
      line(
          "throughput %.1f ops/s, %.2f Mbit/s, %.2f MB/s",
          figures.operationsPerSecond(),
          figures.bytesPerSecond() * BITS_PER_BYTE / MEGA,
          figures.bytesPerSecond() / MEGA);
    } else {
      line("throughput %.1f ops/s", figures.operationsPerSecond());
    }
    line("latency %.2f us", figures.meanMicros());
    line(
        "latency p50 %.2f us, p99 %.2f us, p99.9 %.2f us, max %.2f us",
        figures.percentileMicros(50),
        figures.percentileMicros(99),
        figures.percentileMicros(99.9),
        figures.maxMicros());
  }

  /** If there was a rate, prints whether it was kept. */
  public void printRate(Figures figures, LoadSettings frame) {
    if (!frame.isPaced()) {
      return;
    }
    long wanted = figures.operations() + figures.givenUp();
    long planned = Pace.plannedNanos(frame.rate(), wanted);
    long late = figures.nanos() - planned;
    boolean kept =
        figures.givenUp() == 0 && late <= Math.max(LEAST_LATE_NANOS, (long) (planned * TOLERANCE));
    line(
        "rate asked %s ops/s, achieved %.1f ops/s%s",
        LoadSettings.plain(frame.rate()),
        figures.operationsPerSecond(),
        kept ? "" : ": NOT KEPT, the latencies are those of operations that queue");
    if (figures.givenUp() > 0) {
      line(
          "gave up %d of %d operations, after %.1f s instead of %.1f s",
          figures.givenUp(), wanted, figures.seconds(), planned / NANOS_PER_SECOND);
    }
  }

  /** Prints the figures of several experiments together. */
  public void printSummary(List<Figures> experiments) {
    line("summary of %d experiments", experiments.size());
    spread("throughput", "ops/s", experiments, Figures::operationsPerSecond);
    if (experiments.get(0).bytes() > 0) {
      spread("throughput", "MB/s", experiments, figures -> figures.bytesPerSecond() / MEGA);
    }
    print(Figures.sum(experiments));
  }

  private void spread(
      String what, String unit, List<Figures> experiments, ToDoubleFunction<Figures> value) {
    Spread spread = Spread.ofAll(experiments.stream().mapToDouble(value).toArray());
    line(
        "%s %s: median %.1f, lowest %.1f, highest %.1f",
        what, unit, spread.value(), spread.low(), spread.high());
  }

  private void line(String format, Object... arguments) {
    out.println(String.format(Locale.ROOT, format, arguments));
  }
}
