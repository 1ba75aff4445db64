/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Distribution;
import io.crail.bench.chart.Line;
import io.crail.bench.chart.Spread;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.record.BenchException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The chart of a command. Stateless. */
public final class PlotFile {
  private static final double MEGA = 1e6;

  private PlotFile() {}

  /**
   * Writes the latencies if there is one size, or the throughput of several sizes; beside them
   * those of earlier commands.
   */
  public static void write(
      String command, BenchOptions<?> options, List<Measured> all, List<Baseline> baselines)
      throws BenchException {
    try {
      chart(command, options, all, baselines).write(options.frame().plot());
    } catch (IOException e) {
      throw new BenchException("--plot: " + options.frame().plot() + ": " + e.getMessage());
    }
  }

  /**
   * Checks before the measurement that earlier figures fit into the chart.
   *
   * @throws BenchException that names the file whose figures do not
   */
  public static void check(BenchOptions<?> options, List<Baseline> baselines)
      throws BenchException {
    for (Baseline baseline : baselines) {
      if (options.sizes().size() == 1) {
        baseline.latencies(options);
      } else {
        baseline.throughput();
      }
    }
  }

  private static Chart chart(
      String command, BenchOptions<?> options, List<Measured> all, List<Baseline> baselines)
      throws BenchException {
    String title = command + ", " + what(options);
    String name = baselines.isEmpty() ? options.type().label() : "this run";
    if (all.size() == 1) {
      List<Distribution> lines = new ArrayList<>();
      lines.add(Distribution.of(name, all.get(0).sum().latencies()));
      for (Baseline baseline : baselines) {
        lines.add(baseline.latencies(options.withSize(all.get(0).size())));
      }
      return Chart.latencies(title, lines);
    }
    Map<Long, Spread> points = new TreeMap<>();
    for (Measured measured : all) {
      points.put(
          (long) measured.size(),
          Spread.ofAll(
              measured.experiments().stream()
                  .mapToDouble(figures -> figures.bytesPerSecond() / MEGA)
                  .toArray()));
    }
    List<Line> lines = new ArrayList<>();
    lines.add(new Line(name, points));
    for (Baseline baseline : baselines) {
      lines.add(baseline.throughput());
    }
    return Chart.overSize(title, "throughput [MB/s]", lines);
  }

  /** The options that a reader of the chart has to know. */
  private static String what(BenchOptions<?> options) {
    LoadSettings frame = options.frame();
    StringBuilder text = new StringBuilder(options.type().label());
    if (options.type().usesSize() && options.sizes().size() == 1) {
      text.append(" of ").append(options.size()).append(" bytes");
    }
    if (options.batch() > 1) {
      text.append(", ").append(options.batch()).append(" in flight");
    }
    if (frame.threads() > 1) {
      text.append(", ").append(frame.threads()).append(" threads");
    }
    if (frame.clients() > 1) {
      text.append(", ").append(frame.clients()).append(" clients");
    }
    if (frame.isPaced()) {
      text.append(", ").append(LoadSettings.plain(frame.rate())).append(" a second");
    }
    return text.toString();
  }
}
