/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.util.Arrays;

/**
 * A figure that was measured one or more times.
 *
 * @param value the shown figure, the median
 * @param low the lowest figure
 * @param high the highest figure
 */
public record Spread(double value, double low, double high) {
  /** A figure that was measured once. */
  public static Spread of(double value) {
    return new Spread(value, value, value);
  }

  /** Median, lowest and highest of one or more figures. */
  public static Spread ofAll(double... figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }

  /** Whether lowest and highest differ. */
  boolean isWide() {
    return high > low;
  }
}
