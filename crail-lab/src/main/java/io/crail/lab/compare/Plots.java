/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.bench.chart.Bars;
import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Line;
import io.crail.bench.chart.Spread;
import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws the figures of sections. Stateless. */
final class Plots {
  private Plots() {}

  /** Writes each chart of a section as SVG and as PNG. */
  static void write(Path directory, Section section) throws IOException {
    for (Plot plot : section.plots()) {
      Chart chart = chart(plot, section.samples());
      WholeFile.write(directory.resolve(plot.file() + ".svg"), chart::write);
      WholeFile.write(directory.resolve(plot.file() + ".png"), chart::write);
    }
  }

  private static Chart chart(Plot plot, Samples samples) {
    if (plot.over() != Plot.Axis.LABELS) {
      List<Line> lines = new ArrayList<>();
      for (Plot.Series series : plot.series()) {
        Map<Long, Spread> points = new LinkedHashMap<>();
        spreads(plot, series, samples)
            .forEach((value, spread) -> points.put(Long.valueOf(value), spread));
        lines.add(new Line(series.name(), points));
      }
      return plot.over() == Plot.Axis.SIZE
          ? Chart.overSize(plot.title(), plot.what(), lines)
          : Chart.overLoad(plot.title(), plot.what(), lines);
    }
    List<Bars> groups = new ArrayList<>();
    for (Plot.Series series : plot.series()) {
      groups.add(new Bars(series.name(), spreads(plot, series, samples)));
    }
    return Chart.bars(plot.title(), plot.what(), groups);
  }

  private static Map<String, Spread> spreads(Plot plot, Plot.Series series, Samples samples) {
    Map<String, Spread> spreads = new LinkedHashMap<>();
    series
        .points()
        .forEach(
            (label, name) ->
                spreads.put(
                    label,
                    Spread.ofAll(
                        samples.values(name, plot.unit()).stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray())));
    return spreads;
  }
}
