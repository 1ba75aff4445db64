/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.chart.Bars;
import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Distribution;
import io.crail.bench.chart.Spread;
import io.crail.lab.figures.Samples;
import io.crail.lab.figures.SideBySide;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The figures of all jobs: a table, and charts. Not thread-safe. */
final class SparkFigures {
  private static final String SECONDS = "s";
  private static final String LOCAL = "MiB on local disk";
  private static final double BYTES_PER_MIB = 1 << 20;
  private static final double NANOS_PER_MICRO = 1e3;

  /** The sizes of broadcast values: as the job names them, and for people. */
  private static final Map<String, String> SIZES = sorted("128B", "128 B", "8MiB", "8 MiB");

  /** What is done with a value: as the job names it, and for people. */
  private static final Map<String, String> PARTS =
      sorted("make", "make", "first", "first read", "cached", "cached read");

  private final List<SparkTask> tasks;
  private final List<SparkWay> ways;
  private final Samples samples;
  private final Map<String, Histogram> nanos = new LinkedHashMap<>();

  /** Creates them without any. */
  SparkFigures(List<SparkTask> tasks, List<SparkWay> ways, Samples samples) {
    this.tasks = tasks;
    this.ways = ways;
    this.samples = samples;
  }

  private static Map<String, String> sorted(String... pairs) {
    Map<String, String> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put(pairs[i], pairs[i + 1]);
    }
    return map;
  }

  /** Adds those of one job. */
  void add(SparkTask task, SparkWay way, String command, JobOutput output) {
    String name = SideBySide.name(task.word(), way.title());
    samples.add(name, SECONDS, command, output.seconds());
    samples.add(name, LOCAL, command, output.localBytes() / BYTES_PER_MIB);
    SIZES.forEach(
        (size, sizeTitle) ->
            PARTS.forEach(
                (part, partTitle) -> {
                  List<Long> values = output.parts().getOrDefault(part + "-" + size, List.of());
                  if (!values.isEmpty()) {
                    add(figure(sizeTitle, partTitle), way, command, values);
                  }
                }));
  }

  private void add(String figure, SparkWay way, String command, List<Long> values) {
    Histogram run = new Histogram(3);
    values.forEach(run::recordValue);
    String name = SideBySide.name(figure, way.title());
    for (int percentile : new int[] {50, 99}) {
      samples.add(
          name,
          "us p" + percentile,
          command,
          run.getValueAtPercentile(percentile) / NANOS_PER_MICRO);
    }
    nanos.computeIfAbsent(name, key -> new Histogram(3)).add(run);
  }

  private static String figure(String size, String part) {
    return SparkTask.BROADCAST.word() + " " + size + ", " + part;
  }

  /** One table of everything. */
  String table() {
    SideBySide table = new SideBySide(samples, ways.stream().map(SparkWay::title).toList());
    for (SparkTask task : tasks) {
      table.add(task.word(), SECONDS);
      table.add(task.word(), LOCAL);
    }
    for (String size : SIZES.values()) {
      for (String part : PARTS.values()) {
        table.add(figure(size, part), "us p50");
        table.add(figure(size, part), "us p99");
      }
    }
    return table.table();
  }

  /** Writes the charts: times of all jobs, and the distribution of the reads of each size. */
  void plot(Path directory, String title) throws IOException {
    List<Bars> groups = new ArrayList<>();
    for (SparkWay way : ways) {
      Map<String, Spread> bars = new LinkedHashMap<>();
      for (SparkTask task : tasks) {
        String name = SideBySide.name(task.word(), way.title());
        if (samples.has(name, SECONDS)) {
          bars.put(
              task.word(),
              Spread.ofAll(
                  samples.values(name, SECONDS).stream()
                      .mapToDouble(Double::doubleValue)
                      .toArray()));
        }
      }
      groups.add(new Bars(way.title(), bars));
    }
    Chart.bars(title, "time [s]", groups).write(directory.resolve("spark-jobs.svg"));
    for (Map.Entry<String, String> size : SIZES.entrySet()) {
      List<Distribution> lines = new ArrayList<>();
      for (SparkWay way : ways) {
        for (String part : List.of(PARTS.get("first"), PARTS.get("cached"))) {
          Histogram histogram =
              nanos.get(SideBySide.name(figure(size.getValue(), part), way.title()));
          if (histogram != null) {
            lines.add(Distribution.of(way.title() + ", " + part, histogram));
          }
        }
      }
      if (!lines.isEmpty()) {
        Chart.latencies("Spark, broadcast of " + size.getValue(), lines)
            .write(directory.resolve("spark-broadcast-" + size.getKey() + ".svg"));
      }
    }
  }
}
