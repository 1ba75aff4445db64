/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Measured values by their names, and a table of them. Not thread-safe. */
public final class Samples {
  /**
   * The name of a figure.
   *
   * @param name the name, for people
   * @param unit of the values
   * @param command the command that printed the values
   */
  record Metric(String name, String unit, String command) {}

  private static final String[] HEAD = {"what", "median", "range", "runs", "command"};

  private final Map<Metric, List<Double>> values = new LinkedHashMap<>();
  private final Consumer<String> progress;

  /** Creates samples without a listener. */
  public Samples() {
    this(line -> {});
  }

  /** Creates samples that report each value as it comes. */
  public Samples(Consumer<String> progress) {
    this.progress = progress;
  }

  /** Adds a value. */
  public void add(String name, String unit, String command, double value) {
    progress.accept(name + ": " + format(value) + " " + unit);
    values.computeIfAbsent(new Metric(name, unit, command), metric -> new ArrayList<>()).add(value);
  }

  /**
   * The median of the values of a name.
   *
   * @throws IllegalArgumentException when there is no value
   */
  public double median(String name, String unit) {
    return median(values(name, unit));
  }

  /**
   * The values of a name, in the order of the runs.
   *
   * @throws IllegalArgumentException when there is no value
   */
  public List<Double> values(String name, String unit) {
    for (Map.Entry<Metric, List<Double>> entry : values.entrySet()) {
      if (entry.getKey().name.equals(name) && entry.getKey().unit.equals(unit)) {
        return entry.getValue();
      }
    }
    throw new IllegalArgumentException("nothing measured: " + name + " in " + unit);
  }

  /** Whether there is a value of a name. */
  public boolean has(String name, String unit) {
    return values.keySet().stream()
        .anyMatch(metric -> metric.name.equals(name) && metric.unit.equals(unit));
  }

  /** All values by name, in the order of their first measurement. */
  public List<Map<String, Object>> fields() {
    List<Map<String, Object>> all = new ArrayList<>();
    values.forEach(
        (metric, list) -> {
          Map<String, Object> fields = new LinkedHashMap<>();
          fields.put("what", metric.name);
          fields.put("unit", metric.unit);
          fields.put("median", median(list));
          fields.put("values", list);
          fields.put("command", metric.command);
          all.add(fields);
        });
    return all;
  }

  /** The median. */
  public static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Whether there is no value. */
  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** A table in Markdown of all medians, with their ranges and commands. */
  public String table() {
    List<String[]> rows = new ArrayList<>();
    values.forEach(
        (metric, list) -> {
          double[] sorted = list.stream().mapToDouble(Double::doubleValue).sorted().toArray();
          rows.add(
              new String[] {
                metric.name,
                format(median(list)) + " " + metric.unit,
                format(sorted[0]) + " - " + format(sorted[sorted.length - 1]),
                String.valueOf(list.size()),
                "`" + metric.command + "`"
              });
        });
    return Markdown.table(HEAD, rows);
  }

  /** A value with at least three digits, and no more decimals than that needs. */
  static String format(double value) {
    double size = Math.abs(value);
    String pattern = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, pattern, value);
  }

  /** A number of bytes for people: 4 B, 64 KiB, 1 MiB. */
  public static String bytes(int size) {
    return size < 1 << 10
        ? size + " B"
        : size < 1 << 20 ? (size >> 10) + " KiB" : (size >> 20) + " MiB";
  }

  /** The number after a word in a text: {@code number("p50 7.5 us", "p50")} is 7.5. */
  public static double number(String text, String word) {
    String[] words = text.split("[\\s,=:]+");
    int at = Arrays.asList(words).indexOf(word);
    if (at < 0 || at + 1 >= words.length) {
      throw new IllegalArgumentException("no '" + word + "' in: " + text);
    }
    return Double.parseDouble(words[at + 1]);
  }
}
