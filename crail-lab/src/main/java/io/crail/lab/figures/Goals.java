/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Compares medians: the ratios of medians, the ratios of single runs, and whether each meets its
 * goal. Not thread-safe.
 */
public final class Goals {
  /** The unit for a number of files in a server; more is better. */
  public static final String FILES = "files";

  private static final String[] HEAD = {
    "figure", "compared with", "ratio", "ratios of the runs", "goal", ""
  };

  private static final String[] SUMMARY = {
    "goal", "figure", "compared with", "ratio", "of the runs", ""
  };

  private final Samples samples;
  private final List<Goal> goals = new ArrayList<>();

  public Goals(Samples samples) {
    this.samples = samples;
  }

  /**
   * A figure to compare with, or a part of it.
   *
   * @param times how often it counts; 2 for the two directions of a round trip
   */
  public record Limit(String name, int times) {}

  /**
   * A comparison.
   *
   * @param figure the name, for people
   * @param unit of the figure and of its limit
   * @param median of the figure
   * @param limit the figure to compare with, with its median; empty when the factor itself is the
   *     limit
   * @param ratio of the medians
   * @param ratios of the single runs; empty when the runs are not pairs
   * @param factor the limit of the ratio, or of the median when there is no other figure; 0 for no
   *     goal
   */
  public record Goal(
      String figure,
      String unit,
      double median,
      String limit,
      double ratio,
      List<Double> ratios,
      double factor) {
    /** Whether less is better: true for all except rates and numbers of files. */
    boolean less() {
      return !unit.contains("/") && !unit.equals(FILES);
    }

    /** Whether there is a goal. */
    public boolean isDemanded() {
      return factor > 0;
    }

    /** Whether the goal is met. */
    public boolean isMet() {
      double value = limit.isEmpty() ? median : ratio;
      return less() ? value <= factor : value >= factor;
    }

    /** The goal in words. */
    String demand() {
      if (!isDemanded()) {
        return "";
      }
      String number =
          factor == Math.rint(factor)
              ? String.format(Locale.ROOT, "%,d", (long) factor)
              : String.valueOf(factor);
      return (less() ? "at most " : "at least ") + number + (limit.isEmpty() ? " " + unit : "");
    }

    /** "met", "missed", or nothing. */
    String outcome() {
      return isDemanded() ? isMet() ? "met" : "missed" : "";
    }

    /** The result in a line. */
    public String sentence() {
      return figure
          + ": "
          + Samples.format(median)
          + " "
          + unit
          + (limit.isEmpty() ? "" : ", " + two(ratio) + " x " + limit)
          + "; "
          + demand()
          + ": "
          + outcome();
    }

    /** All fields by name. */
    public Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("figure", figure);
      fields.put("unit", unit);
      fields.put("median", median);
      if (!limit.isEmpty()) {
        fields.put("comparedWith", limit);
        fields.put("ratio", ratio);
        fields.put("ratios", ratios);
      }
      if (isDemanded()) {
        fields.put("goal", demand());
        fields.put("met", isMet());
      }
      return fields;
    }

    private String range() {
      return ratios.isEmpty()
          ? ""
          : two(ratios.stream().mapToDouble(Double::doubleValue).min().orElseThrow())
              + " - "
              + two(ratios.stream().mapToDouble(Double::doubleValue).max().orElseThrow());
    }

    private String[] shortCells() {
      return new String[] {
        figure + ": " + demand() + (limit.isEmpty() ? "" : " x"),
        Samples.format(median) + " " + unit,
        limit,
        limit.isEmpty() ? "" : two(ratio),
        range(),
        outcome()
      };
    }

    private String[] cells() {
      return new String[] {
        figure + ": " + Samples.format(median) + " " + unit,
        limit,
        limit.isEmpty() ? "" : two(ratio),
        range(),
        demand(),
        outcome()
      };
    }

    private static String two(double value) {
      return String.format(Locale.ROOT, "%.2f", value);
    }
  }

  /** Compares two medians. A latency must be at most the factor, a rate at least. */
  public void add(String crail, String limit, String unit, double factor) {
    add(crail, unit, factor, new Limit(limit, 1));
  }

  /** Compares a median with the sum of others. A factor of 0 means no goal. */
  public void add(String crail, String unit, double factor, Limit... limits) {
    double sum = 0;
    StringJoiner text = new StringJoiner(" + ");
    for (Limit limit : limits) {
      double median = samples.median(limit.name, unit);
      sum += limit.times * median;
      text.add(
          (limit.times == 1 ? "" : limit.times + " x ")
              + limit.name
              + ": "
              + Samples.format(median)
              + " "
              + unit);
    }
    double median = samples.median(crail, unit);
    goals.add(
        new Goal(
            crail,
            unit,
            median,
            text.toString(),
            median / sum,
            ratios(samples.values(crail, unit), unit, limits),
            factor));
  }

  /**
   * Compares a median with a figure of another run, which may be of another machine.
   *
   * @param peer the name of that figure
   */
  public void addRecorded(String crail, String unit, double factor, String peer, double recorded) {
    double median = samples.median(crail, unit);
    goals.add(
        new Goal(
            crail,
            unit,
            median,
            peer + ", recorded, not of this run: " + Samples.format(recorded) + " " + unit,
            median / recorded,
            samples.values(crail, unit).stream().map(value -> value / recorded).toList(),
            factor));
  }

  /** Requires that a median is at most the factor; a rate must be at least the factor. */
  public void addAlone(String crail, String unit, double factor) {
    double median = samples.median(crail, unit);
    goals.add(new Goal(crail, unit, median, "", 1, List.of(), factor));
  }

  /** The ratio of each run; empty when a figure was not taken in every run. */
  private List<Double> ratios(List<Double> values, String unit, Limit... limits) {
    List<Double> ratios = new ArrayList<>();
    for (int run = 0; run < values.size(); run++) {
      double sum = 0;
      for (Limit limit : limits) {
        List<Double> others = samples.values(limit.name, unit);
        if (others.size() != values.size()) {
          return List.of();
        }
        sum += limit.times * others.get(run);
      }
      ratios.add(values.get(run) / sum);
    }
    return ratios;
  }

  /** All comparisons. */
  public List<Goal> all() {
    return List.copyOf(goals);
  }

  /** A table in Markdown with the goals of several sections and their results. */
  public static String summary(List<Goal> goals) {
    return Markdown.table(SUMMARY, goals.stream().map(Goal::shortCells).toList());
  }

  /** A table in Markdown. */
  public String table() {
    return Markdown.table(HEAD, goals.stream().map(Goal::cells).toList());
  }
}
