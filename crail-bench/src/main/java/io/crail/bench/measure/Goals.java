/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Medians beside those of their limits, and whether they are what they should be. */
final class Goals {
  private final Samples samples;
  private final List<String> lines = new ArrayList<>();

  Goals(Samples samples) {
    this.samples = samples;
  }

  /** Compares two medians: latencies must be at most, rates at least the factor. */
  void add(String crail, String limit, String unit, double factor) {
    add(crail, limit, unit, 1, factor);
  }

  /**
   * Compares two medians.
   *
   * @param times how often the limit is counted, as with the two ways of a round trip
   */
  void add(String crail, String limit, String unit, int times, double factor) {
    double ratio = samples.median(crail, unit) / (times * samples.median(limit, unit));
    boolean less = unit.startsWith("us");
    boolean met = less ? ratio <= factor : ratio >= factor;
    lines.add(
        String.format(
            Locale.ROOT,
            "| %s: %s %s | %s%s: %s %s | %.2f | %s %.1f | %s |%n",
            crail,
            Samples.format(samples.median(crail, unit)),
            unit,
            times == 1 ? "" : times + " x ",
            limit,
            Samples.format(samples.median(limit, unit)),
            unit,
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
