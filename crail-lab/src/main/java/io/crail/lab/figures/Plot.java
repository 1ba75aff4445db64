/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.figures;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A chart of what was measured.
 *
 * @param file name of its file, without its end
 * @param title above it
 * @param what the axis of the figures, with its unit
 * @param unit of the figures that it shows
 * @param overSize whether the other axis is the size of an operation; else there are bars
 * @param series lines, or bars of one colour
 */
public record Plot(
    String file, String title, String what, String unit, boolean overSize, List<Series> series) {
  /**
   * Figures that belong together.
   *
   * @param name what the legend calls them
   * @param points names of what was measured, by bytes of an operation or by what stands below
   */
  public record Series(String name, Map<String, String> points) {
    /** Figures over sizes; {@code pattern} has a {@code %s} for the size. */
    public static Series overSizes(String name, int[] sizes, String pattern) {
      Map<String, String> points = new LinkedHashMap<>();
      for (int size : sizes) {
        points.put(String.valueOf(size), String.format(pattern, Samples.bytes(size)));
      }
      return new Series(name, points);
    }
  }
}
