/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;

/** An axis from zero to a little above the highest figure, with few labels at round numbers. */
final class LinearAxis extends NumberAxis {
  private static final long serialVersionUID = 1;
  private static final int MOST_TICKS = 7;

  /**
   * Creates an axis.
   *
   * @param top the highest figure
   * @param room the part above it, relative to the figure
   */
  LinearAxis(String label, double top, double room) {
    this(label, top, room, MOST_TICKS);
  }

  /** The same, with at most so many steps between labels. */
  LinearAxis(String label, double top, double room, int most) {
    super(label);
    double end = top > 0 ? top * (1 + room) : 1;
    setRange(0, end);
    setTickUnit(new NumberTickUnit(step(end, most), Numbers.counts()));
  }

  /** The smallest 1, 2 or 5 times a power of ten that gives few enough labels. */
  private static double step(double end, int most) {
    double power = Math.pow(10, Math.floor(Math.log10(end / most)));
    for (int factor : new int[] {1, 2, 5}) {
      if (end / (factor * power) <= most) {
        return factor * power;
      }
    }
    return 10 * power;
  }
}
