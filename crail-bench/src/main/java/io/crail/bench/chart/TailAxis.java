/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.axis.TickType;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;

/**
 * An axis of percentiles on which each further nine takes as much room as the one before, up to
 * 99.99 %. The value of a percentile is one in how many operations is above it: 100 for 99 %.
 */
final class TailAxis extends LogAxis {
  private static final long serialVersionUID = 1;

  /** The percentiles with a label, and a point in each line. */
  static final List<Double> MARKS = List.of(2.0, 10.0, 100.0, 1_000.0, 10_000.0);

  /** 99.99 %. */
  static final double MOST = 10_000;

  TailAxis(String label) {
    super(label);
    // Room for the text of the last point.
    setRange(1, 2 * MOST);
    // The ticks are computed below.
    setAutoTickUnitSelection(false);
  }

  /** The fraction of operations up to there. */
  static double fraction(double value) {
    return 1 - 1 / value;
  }

  @Override
  public List<NumberTick> refreshTicks(
      Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
    List<NumberTick> ticks = new ArrayList<>();
    ticks.add(tick(1));
    for (double mark : MARKS) {
      ticks.add(tick(mark));
    }
    return ticks;
  }

  private static NumberTick tick(double value) {
    return new NumberTick(
        TickType.MAJOR,
        value,
        Numbers.plain().format(100 * fraction(value)),
        TextAnchor.TOP_CENTER,
        TextAnchor.CENTER,
        0);
  }
}
