/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** Medians beside those of their limits, and whether they are what they should be. */
final class Goals {
  private final Samples samples;
  private final List<String> lines = new ArrayList<>();

  Goals(Samples samples) {
    this.samples = samples;
  }

  /**
   * A part of what a figure is compared with.
   *
   * @param times how often it is counted, as with the two ways of a round trip
   */
  record Limit(String name, int times) {}

  /** Compares two medians: latencies must be at most, rates at least the factor. */
  void add(String crail, String limit, String unit, double factor) {
    add(crail, unit, factor, new Limit(limit, 1));
  }

  /** Compares a median with the sum of others. */
  void add(String crail, String unit, double factor, Limit... limits) {
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
    double ratio = samples.median(crail, unit) / sum;
    boolean less = unit.startsWith("us");
    boolean met = less ? ratio <= factor : ratio >= factor;
    lines.add(
        String.format(
            Locale.ROOT,
            "| %s: %s %s | %s | %.2f | %s %s | %s |%n",
            crail,
            Samples.format(samples.median(crail, unit)),
            unit,
            text,
            ratio,
            less ? "at most" : "at least",
            factor,
            met ? "met" : "missed"));
  }

  /** A table in Markdown. */
  String table() {
    return "| Crail | limit | ratio | goal | |\n|---|---|---|---|---|\n" + String.join("", lines);
  }
}
