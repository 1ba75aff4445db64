/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.lab.figures.Samples;
import io.crail.lab.figures.SideBySide;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The figures of all jobs, and a table of them. Not thread-safe. */
final class SparkFigures {
  /** The sizes of broadcast values: as the job names them, and for people. */
  static final Map<String, String> SIZES = sorted("128B", "128 B", "8MiB", "8 MiB");

  private static final String SECONDS = "s";
  private static final String LOCAL = "MiB on local disk";
  private static final String MAPS_AGAIN = "maps again";
  private static final String OPERATIONS = "namenode operations";
  private static final String MOST_OPERATIONS = "namenode operations/s, most";
  private static final double BYTES_PER_MIB = 1 << 20;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final int[] PERCENTILES = {50, 90, 99};

  /** What is done with a value: as the job names it, and for people. */
  private static final Map<String, String> PARTS =
      sorted("make", "make", "first", "first read", "cached", "cached read");

  private final SparkOptions options;
  private final Samples samples;
  private final Map<String, Histogram> nanos = new LinkedHashMap<>();

  /** Creates them without any. */
  SparkFigures(SparkOptions options, Samples samples) {
    this.options = options;
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
  void add(SparkCase one, SparkWay way, String command, JobOutput output) {
    String name = SideBySide.name(options.name(one), way.title());
    samples.add(name, SECONDS, command, output.seconds());
    samples.add(name, LOCAL, command, output.localBytes() / BYTES_PER_MIB);
    if (one.task().kills() > 0) {
      samples.add(name, MAPS_AGAIN, command, output.mapsAgain());
    }
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
    for (int percentile : PERCENTILES) {
      samples.add(
          name,
          "us p" + percentile,
          command,
          run.getValueAtPercentile(percentile) / NANOS_PER_MICRO);
    }
    nanos.computeIfAbsent(name, key -> new Histogram(3)).add(run);
  }

  /** Adds what the namenodes have served during one job. */
  void add(SparkCase one, String command, NamenodeLoad load) {
    String name = SideBySide.name(options.name(one), SparkWay.CRAIL.title());
    samples.add(name, OPERATIONS, command, load.operations());
    samples.add(name, MOST_OPERATIONS, command, load.most());
  }

  private static String figure(String size, String part) {
    return SparkTask.BROADCAST.word() + " " + size + ", " + part;
  }

  /** The seconds of a case in one of the ways, a value for each run. */
  List<Double> seconds(SparkCase one, SparkWay way) {
    String name = SideBySide.name(options.name(one), way.title());
    return samples.has(name, SECONDS) ? samples.values(name, SECONDS) : List.of();
  }

  /** The reads of broadcast values of a size in one of the ways, of all runs, by their kind. */
  Map<String, Histogram> reads(String sizeTitle, SparkWay way) {
    Map<String, Histogram> reads = new LinkedHashMap<>();
    for (String part : List.of(PARTS.get("first"), PARTS.get("cached"))) {
      Histogram histogram = nanos.get(SideBySide.name(figure(sizeTitle, part), way.title()));
      if (histogram != null) {
        reads.put(part, histogram);
      }
    }
    return reads;
  }

  /** One table of everything. */
  String table() {
    SideBySide table =
        new SideBySide(samples, options.chosenWays().stream().map(SparkWay::title).toList());
    for (SparkCase one : options.cases()) {
      for (String unit : List.of(SECONDS, LOCAL, MAPS_AGAIN, OPERATIONS, MOST_OPERATIONS)) {
        table.add(options.name(one), unit);
      }
    }
    for (String size : SIZES.values()) {
      for (String part : PARTS.values()) {
        for (int percentile : PERCENTILES) {
          table.add(figure(size, part), "us p" + percentile);
        }
      }
    }
    return table.table();
  }
}
