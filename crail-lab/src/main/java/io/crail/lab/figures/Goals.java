/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Medians beside those of what they are compared with, their ratios and the ratios of the single
 * runs, and whether they are what they should be. Not thread-safe.
 */
public final class Goals {
  /** The unit of what a server holds, of which more is better. */
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
   * A part of what a figure is compared with.
   *
   * @param times how often it is counted, as with the two ways of a round trip
   */
  public record Limit(String name, int times) {}

  /**
   * A comparison.
   *
   * @param figure what, for people
   * @param unit of it and of what it is compared with
   * @param median of the figure
   * @param limit what it is compared with, with its median; empty when that is the factor
   * @param ratio of the medians
   * @param ratios of the single runs; empty when they are no pairs
   * @param factor what the ratio, or the median when there is no limit, must be; 0 for no goal
   */
  public record Goal(
      String figure,
      String unit,
      double median,
      String limit,
      double ratio,
      List<Double> ratios,
      double factor) {
    /** Whether less is better: for all but rates and counts of what is held. */
    boolean less() {
      return !unit.contains("/") && !unit.equals(FILES);
    }

    /** Whether something is demanded. */
    public boolean isDemanded() {
      return factor > 0;
    }

    /** Whether it is what it should be. */
    public boolean isMet() {
      double value = limit.isEmpty() ? median : ratio;
      return less() ? value <= factor : value >= factor;
    }

    /** What is demanded, in words. */
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

    /** What came out, in a line. */
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

    /** All of it by name. */
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

  /** Compares two medians: latencies must be at most, rates at least the factor. */
  public void add(String crail, String limit, String unit, double factor) {
    add(crail, unit, factor, new Limit(limit, 1));
  }

  /** Compares a median with the sum of others; a factor of 0 demands nothing. */
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
   * Compares a median with a figure of another run, maybe of another machine.
   *
   * @param peer what that figure is of
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

  /** Demands that a median is at most this, or at least for rates. */
  public void addAlone(String crail, String unit, double factor) {
    double median = samples.median(crail, unit);
    goals.add(new Goal(crail, unit, median, "", 1, List.of(), factor));
  }

  /** The ratio of each run; none when something was not measured in each. */
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

  /** A table in Markdown of goals of several sections: what was demanded and what came out. */
  public static String summary(List<Goal> goals) {
    return Markdown.table(SUMMARY, goals.stream().map(Goal::shortCells).toList());
  }

  /** A table in Markdown. */
  public String table() {
    return Markdown.table(HEAD, goals.stream().map(Goal::cells).toList());
  }
}
