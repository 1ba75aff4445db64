/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Measured values by what they are of, and their table. Not thread-safe. */
final class Samples {
  /**
   * What was measured.
   *
   * @param name what, for people
   * @param unit of the values
   * @param command that gave them
   */
  record Metric(String name, String unit, String command) {}

  private final Map<Metric, List<Double>> values = new LinkedHashMap<>();

  /** Adds a value. */
  void add(String name, String unit, String command, double value) {
    values.computeIfAbsent(new Metric(name, unit, command), metric -> new ArrayList<>()).add(value);
  }

  /**
   * The median of what was measured under a name.
   *
   * @throws IllegalArgumentException when nothing was
   */
  double median(String name, String unit) {
    for (Map.Entry<Metric, List<Double>> entry : values.entrySet()) {
      if (entry.getKey().name.equals(name) && entry.getKey().unit.equals(unit)) {
        return median(entry.getValue());
      }
    }
    throw new IllegalArgumentException("nothing measured: " + name + " in " + unit);
  }

  /** The median. */
  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** A table in Markdown of all medians, with their ranges and commands. */
  String table() {
    StringBuilder text = new StringBuilder();
    text.append("| what | median | range | runs | command |\n|---|---|---|---|---|\n");
    values.forEach(
        (metric, list) -> {
          double[] sorted = list.stream().mapToDouble(Double::doubleValue).sorted().toArray();
          text.append("| ")
              .append(metric.name)
              .append(" | ")
              .append(format(median(list)))
              .append(' ')
              .append(metric.unit)
              .append(" | ")
              .append(format(sorted[0]))
              .append(" - ")
              .append(format(sorted[sorted.length - 1]))
              .append(" | ")
              .append(list.size())
              .append(" | `")
              .append(metric.command)
              .append("` |\n");
        });
    return text.toString();
  }

  /** A value with three or more digits, and no more decimals than it needs for that. */
  static String format(double value) {
    double size = Math.abs(value);
    String pattern = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, pattern, value);
  }

  /** A number in a text, behind a word: {@code number("p50 7.5 us", "p50")} is 7.5. */
  static double number(String text, String word) {
    String[] words = text.split("[\\s,=:]+");
    int at = Arrays.asList(words).indexOf(word);
    if (at < 0 || at + 1 >= words.length) {
      throw new IllegalArgumentException("no '" + word + "' in: " + text);
    }
    return Double.parseDouble(words[at + 1]);
  }
}
