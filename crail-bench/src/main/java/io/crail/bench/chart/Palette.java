/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfree.chart.renderer.AbstractRenderer;

/**
 * The look of lines and bars. A system that charts often show has one colour in all of them;
 * several lines of one system differ in their strokes. Stateless.
 */
final class Palette {
  /** Colours that people with red-green blindness can distinguish (Okabe and Ito). */
  private static final List<Color> COLOURS =
      List.of(
          new Color(0x00, 0x72, 0xb2),
          new Color(0xd5, 0x5e, 0x00),
          new Color(0x00, 0x9e, 0x73),
          new Color(0xcc, 0x79, 0xa7),
          new Color(0xe6, 0x9f, 0x00),
          new Color(0x56, 0xb4, 0xe9),
          new Color(0x44, 0x44, 0x44));

  /** The systems, by the beginning of a name. */
  private static final List<Map.Entry<String, Color>> SYSTEMS =
      List.of(
          Map.entry("Crail", COLOURS.get(0)),
          Map.entry("Redis", COLOURS.get(1)),
          Map.entry("HDFS", COLOURS.get(2)),
          Map.entry("tmpfs", COLOURS.get(3)),
          Map.entry("disk", COLOURS.get(4)),
          Map.entry("flash", COLOURS.get(5)),
          Map.entry("bare", COLOURS.get(6)),
          Map.entry("memory copy", COLOURS.get(6)));

  private static final float[][] DASHES = {null, {9, 4}, {2, 3}, {9, 4, 2, 4}};
  private static final float LINE = 2;
  private static final int FAINT = 0x40;

  private Palette() {}

  /**
   * How one line or bar looks.
   *
   * @param colour of the line or bar
   * @param stroke of a line
   */
  record Look(Color colour, BasicStroke stroke) {
    /** The look of an area below the line. */
    Look faint() {
      return new Look(
          new Color(colour.getRed(), colour.getGreen(), colour.getBlue(), FAINT), stroke);
    }
  }

  /** Gives the lines or bars of a renderer their looks. */
  static void apply(List<Look> looks, AbstractRenderer renderer) {
    // A theme takes looks away that might have been chosen by the library.
    renderer.setAutoPopulateSeriesPaint(false);
    renderer.setAutoPopulateSeriesStroke(false);
    for (int i = 0; i < looks.size(); i++) {
      renderer.setSeriesPaint(i, looks.get(i).colour());
      renderer.setSeriesStroke(i, looks.get(i).stroke());
    }
  }

  /** The looks of the lines or bars with these names, in their order. */
  static List<Look> looks(List<String> names) {
    List<Color> others = new ArrayList<>(COLOURS);
    names.forEach(name -> others.remove(system(name)));
    Map<Color, Integer> lines = new HashMap<>();
    List<Look> looks = new ArrayList<>();
    int next = 0;
    for (String name : names) {
      Color colour = system(name);
      if (colour == null) {
        List<Color> free = others.isEmpty() ? COLOURS : others;
        colour = free.get(next++ % free.size());
      }
      int before = lines.merge(colour, 1, Integer::sum) - 1;
      looks.add(new Look(colour, stroke(DASHES[before % DASHES.length])));
    }
    return looks;
  }

  private static Color system(String name) {
    return SYSTEMS.stream()
        .filter(each -> name.startsWith(each.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(null);
  }

  private static BasicStroke stroke(float[] dashes) {
    return dashes == null
        ? new BasicStroke(LINE)
        : new BasicStroke(LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, LINE, dashes, 0);
  }
}
