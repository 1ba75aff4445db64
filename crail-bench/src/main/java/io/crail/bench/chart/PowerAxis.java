/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.axis.TickType;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;

/**
 * A logarithmic axis below or beside a chart, with labels at powers of its base. The labels of its
 * superclass are formatted texts, which an SVG would draw as outlines of letters.
 */
final class PowerAxis extends LogAxis {
  private static final long serialVersionUID = 1;
  private static final int MOST_POWERS = 11;

  /** Below this number of powers of ten there are also labels at 2 and 5 times each power. */
  private static final int FEW_POWERS = 3;

  private final NumberFormat format;

  PowerAxis(String label, int base, NumberFormat format) {
    super(label);
    this.format = format;
    setBase(base);
    // The ticks are computed below.
    setAutoTickUnitSelection(false);
  }

  @Override
  public List<NumberTick> refreshTicks(
      Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
    double low = Math.floor(calculateLog(getLowerBound()));
    double high = calculateLog(getUpperBound());
    double step = Math.max(1, Math.ceil((high - low) / MOST_POWERS));
    boolean few = getBase() == 10 && high - low < FEW_POWERS;
    TextAnchor anchor =
        RectangleEdge.isLeftOrRight(edge) ? TextAnchor.CENTER_RIGHT : TextAnchor.TOP_CENTER;
    List<NumberTick> ticks = new ArrayList<>();
    for (double power = Math.floor(low / step) * step; power <= high; power += step) {
      for (int factor : few ? new int[] {1, 2, 5} : new int[] {1}) {
        double value = factor * Math.pow(getBase(), power);
        if (getRange().contains(value)) {
          ticks.add(new NumberTick(TickType.MAJOR, value, format.format(value), anchor, anchor, 0));
        }
      }
    }
    return ticks;
  }
}
