/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.chart.Distribution;
import io.crail.bench.chart.Line;
import io.crail.bench.chart.Spread;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Wire;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The figures of an earlier command, from the file that {@link JsonReport} wrote. Immutable. */
public final class Baseline {
  private static final double MEGA = 1e6;

  private final Path file;
  private final List<?> results;

  private Baseline(Path file, List<?> results) {
    this.file = file;
    this.results = results;
  }

  /**
   * Reads files.
   *
   * @throws BenchException that names a file which cannot be read, or is none of {@code --json}
   */
  public static List<Baseline> read(List<Path> files) throws BenchException {
    List<Baseline> baselines = new ArrayList<>();
    for (Path file : files) {
      try {
        Object report = JsonInput.parse(Files.readString(file));
        if (!(report instanceof Map<?, ?> map)
            || !Double.valueOf(JsonReport.FORMAT).equals(map.get("format"))
            || !(map.get("results") instanceof List<?> results)) {
          throw new BenchException("not what --json of this version writes");
        }
        baselines.add(new Baseline(file, results));
      } catch (IOException | BenchException e) {
        throw new BenchException("--baseline: " + file + ": " + e.getMessage());
      }
    }
    return baselines;
  }

  /** The name in a legend: that of the file. */
  private String name() {
    return file.getFileName().toString().replaceFirst("\\.json$", "");
  }

  /**
   * The latencies of operations of a size, or of a type without sizes.
   *
   * @throws BenchException when the file has none
   */
  Distribution latencies(BenchOptions<?> options) throws BenchException {
    Double size = options.type().usesSize() ? (double) options.size() : null;
    for (Object result : results) {
      Object found = at(result, "size");
      if (size == null ? found == null : size.equals(found)) {
        try {
          byte[] histogram = Base64.getDecoder().decode(text(result, "merged", "histogram"));
          return Distribution.of(name(), Wire.decode(histogram));
        } catch (IOException | IllegalArgumentException e) {
          throw broken();
        }
      }
    }
    throw new BenchException(
        "--baseline: "
            + file
            + " has no figures of operations "
            + (size == null ? "without a size" : "of " + options.size() + " bytes"));
  }

  /**
   * The throughput of each size, in MB/s.
   *
   * @throws BenchException when the file has none
   */
  Line throughput() throws BenchException {
    Map<Long, Spread> points = new TreeMap<>();
    for (Object result : results) {
      if (at(result, "size") instanceof Double size
          && at(result, "experiments") instanceof List<?> experiments) {
        double[] rates = new double[experiments.size()];
        for (int i = 0; i < rates.length; i++) {
          rates[i] = number(experiments.get(i), "bytesPerSecond") / MEGA;
        }
        if (rates.length == 0) {
          throw broken();
        }
        points.put(size.longValue(), Spread.ofAll(rates));
      }
    }
    if (points.isEmpty()) {
      throw new BenchException("--baseline: " + file + " has no figures of sizes");
    }
    return new Line(name(), points);
  }

  private static Object at(Object json, String name) {
    return json instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private String text(Object json, String name, String below) throws BenchException {
    if (at(at(json, name), below) instanceof String text) {
      return text;
    }
    throw broken();
  }

  private double number(Object json, String name) throws BenchException {
    if (at(json, name) instanceof Double number) {
      return number;
    }
    throw broken();
  }

  private BenchException broken() {
    return new BenchException("--baseline: " + file + " lacks a part of what --json writes");
  }
}
