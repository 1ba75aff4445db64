/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The description of a chart.
 *
 * @param file name of its file, without its ending
 * @param title the title
 * @param what label of the axis of the figures, with its unit
 * @param unit of the figures in the chart
 * @param over the other axis
 * @param series lines, or bars of one colour
 */
public record Plot(
    String file, String title, String what, String unit, Axis over, List<Series> series) {
  /** What the figures are drawn over. */
  public enum Axis {
    /** Labels, with a bar each. */
    LABELS,
    /** The size of an operation in bytes. */
    SIZE,
    /** Operations a second. */
    LOAD
  }

  /**
   * Figures that belong together.
   *
   * @param name the name in the legend
   * @param points names of the figures, by bytes of an operation, operations a second, or the label
   *     below the bar
   */
  public record Series(String name, Map<String, String> points) {
    /** Figures over sizes. {@code pattern} has a {@code %s} for the size. */
    public static Series overSizes(String name, int[] sizes, String pattern) {
      Map<String, String> points = new LinkedHashMap<>();
      for (int size : sizes) {
        points.put(String.valueOf(size), String.format(Locale.ROOT, pattern, Samples.bytes(size)));
      }
      return new Series(name, points);
    }
  }
}
