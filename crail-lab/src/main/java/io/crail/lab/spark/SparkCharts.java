/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.chart.Bars;
import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Distribution;
import io.crail.bench.chart.Span;
import io.crail.bench.chart.Spread;
import io.crail.bench.chart.TimeLine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The charts of a comparison. Not thread-safe. */
final class SparkCharts {
  private static final String RATE = "namenode operations per second";

  /** With more stages, their names would not be readable. */
  private static final int MOST_STAGES = 12;

  private final SparkOptions options;
  private final SparkFigures figures;
  private final Map<SparkCase, Run> lastRuns = new LinkedHashMap<>();

  private record Run(NamenodeLoad load, List<Span> stages) {}

  SparkCharts(SparkOptions options, SparkFigures figures) {
    this.options = options;
    this.figures = figures;
  }

  /** Takes what the namenodes have served during a job. The last run of each case is drawn. */
  void add(SparkCase one, NamenodeLoad load, List<Span> stages) {
    lastRuns.put(one, new Run(load, stages));
  }

  /**
   * Writes all charts.
   *
   * @param title begins the title of each
   */
  void write(Path directory, String title) throws IOException {
    List<SparkCase> single = new ArrayList<>();
    for (SparkTask task : options.tasks()) {
      List<SparkCase> cases = options.cases().stream().filter(one -> one.task() == task).toList();
      if (cases.size() == 1) {
        single.addAll(cases);
      } else {
        bars(title + ", " + task.word() + ", executors x cores", cases, SparkCase::size)
            .write(directory.resolve("spark-" + task.word() + ".svg"));
        List<TimeLine> lines = new ArrayList<>();
        cases.stream()
            .filter(lastRuns::containsKey)
            .forEach(one -> lines.addAll(lastRuns.get(one).load.allAs(one.size())));
        if (!lines.isEmpty()) {
          Chart.overTime(title + ", " + task.word() + ", executors x cores", RATE, lines, List.of())
              .write(directory.resolve("spark-namenode-" + task.word() + ".svg"));
        }
      }
    }
    if (!single.isEmpty()) {
      bars(title, single, options::name).write(directory.resolve("spark-jobs.svg"));
    }
    for (Map.Entry<SparkCase, Run> each : lastRuns.entrySet()) {
      Run run = each.getValue();
      if (run.stages.size() <= MOST_STAGES && !run.load.lines().isEmpty()) {
        String name = options.name(each.getKey());
        Chart.overTime(title + ", " + name, RATE, run.load.lines(), run.stages)
            .write(
                directory.resolve(
                    "spark-namenode-" + name.replace(" x ", "x").replace(' ', '-') + ".svg"));
      }
    }
    broadcasts(directory, title);
  }

  private Chart bars(String title, List<SparkCase> cases, Function<SparkCase, String> label) {
    List<Bars> groups = new ArrayList<>();
    for (SparkWay way : options.chosenWays()) {
      Map<String, Spread> bars = new LinkedHashMap<>();
      for (SparkCase one : cases) {
        double[] seconds =
            figures.seconds(one, way).stream().mapToDouble(Double::doubleValue).toArray();
        if (seconds.length > 0) {
          bars.put(label.apply(one), Spread.ofAll(seconds));
        }
      }
      groups.add(new Bars(way.title(), bars));
    }
    return Chart.bars(title, "time [s]", groups);
  }

  private void broadcasts(Path directory, String title) throws IOException {
    for (Map.Entry<String, String> size : SparkFigures.SIZES.entrySet()) {
      List<Distribution> lines = new ArrayList<>();
      for (SparkWay way : options.chosenWays()) {
        figures
            .reads(size.getValue(), way)
            .forEach((part, nanos) -> lines.add(Distribution.of(way.title() + ", " + part, nanos)));
      }
      if (!lines.isEmpty()) {
        Chart.latencies(title + ", broadcast of " + size.getValue(), lines)
            .write(directory.resolve("spark-broadcast-" + size.getKey() + ".svg"));
      }
    }
  }
}
