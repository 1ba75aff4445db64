/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table of figures that were taken in several ways: a line for each figure, a column for each
 * way, and the ratios of the last way to the others. What was not measured is left empty. Not
 * thread-safe.
 */
public final class SideBySide {
  private final Samples samples;
  private final List<String> ways;
  private final List<Figure> figures = new ArrayList<>();

  private record Figure(String name, String unit) {}

  /** Creates an empty table. */
  public SideBySide(Samples samples, List<String> ways) {
    this.samples = samples;
    this.ways = List.copyOf(ways);
  }

  /** The name of the samples of a figure that was taken in one of the ways. */
  public static String name(String figure, String way) {
    return figure + ", " + way;
  }

  /** Adds a line, unless there is nothing to show. */
  public void add(String figure, String unit) {
    if (ways.stream().anyMatch(way -> samples.has(name(figure, way), unit))) {
      figures.add(new Figure(figure, unit));
    }
  }

  /** The table in Markdown: medians, and of several runs the range. */
  public String table() {
    List<String> head = new ArrayList<>(List.of("figure", "unit"));
    head.addAll(ways);
    String last = ways.get(ways.size() - 1);
    List<String> others = ways.subList(0, ways.size() - 1);
    others.forEach(way -> head.add(last + " / " + way));
    List<String[]> rows = new ArrayList<>();
    for (Figure figure : figures) {
      List<String> cells = new ArrayList<>(List.of(figure.name, figure.unit));
      ways.forEach(way -> cells.add(ofWay(figure, way)));
      others.forEach(way -> cells.add(ratio(figure, last, way)));
      rows.add(cells.toArray(new String[0]));
    }
    return Markdown.table(head.toArray(new String[0]), rows);
  }

  private String ofWay(Figure figure, String way) {
    List<Double> values = values(figure, way);
    return values.isEmpty()
        ? ""
        : Samples.format(Samples.median(values))
            + range(values.stream().map(Samples::format).toList(), values);
  }

  private String ratio(Figure figure, String way, String other) {
    List<Double> values = values(figure, way);
    List<Double> others = values(figure, other);
    if (values.isEmpty() || others.isEmpty() || others.contains(0.0)) {
      return "";
    }
    List<Double> ratios = new ArrayList<>();
    // Without a run that has failed, they are pairs.
    for (int run = 0; run < values.size() && values.size() == others.size(); run++) {
      ratios.add(values.get(run) / others.get(run));
    }
    return two(Samples.median(values) / Samples.median(others))
        + range(ratios.stream().map(SideBySide::two).toList(), ratios);
  }

  private static String range(List<String> texts, List<Double> values) {
    if (values.size() < 2) {
      return "";
    }
    int least = 0;
    int most = 0;
    for (int i = 1; i < values.size(); i++) {
      least = values.get(i) < values.get(least) ? i : least;
      most = values.get(i) > values.get(most) ? i : most;
    }
    return " (" + texts.get(least) + " - " + texts.get(most) + ")";
  }

  private List<Double> values(Figure figure, String way) {
    String name = name(figure.name, way);
    return samples.has(name, figure.unit) ? samples.values(name, figure.unit) : List.of();
  }

  private static String two(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
