/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.util.List;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.CategoryItemRendererState;
import org.jfree.data.category.CategoryDataset;

/** Bars with a whisker from the lowest to the highest figure. */
final class SpreadBarRenderer extends BarRenderer {
  private static final long serialVersionUID = 1;
  private static final double CAP = 3;

  private final transient List<Bars> groups;

  SpreadBarRenderer(List<Bars> groups) {
    this.groups = groups;
    setItemMargin(0.05);
  }

  @Override
  public void drawItem(
      Graphics2D graphics,
      CategoryItemRendererState state,
      Rectangle2D area,
      CategoryPlot plot,
      CategoryAxis categories,
      ValueAxis values,
      CategoryDataset data,
      int row,
      int column,
      int pass) {
    super.drawItem(graphics, state, area, plot, categories, values, data, row, column, pass);
    Spread spread = groups.get(row).bars().get(data.getColumnKey(column));
    if (spread == null || !spread.isWide()) {
      return;
    }
    double x =
        calculateBarW0(plot, plot.getOrientation(), area, categories, state, row, column)
            + state.getBarWidth() / 2;
    double low = values.valueToJava2D(spread.low(), area, plot.getRangeAxisEdge());
    double high = values.valueToJava2D(spread.high(), area, plot.getRangeAxisEdge());
    graphics.setPaint(Color.DARK_GRAY);
    graphics.setStroke(new BasicStroke(1.2f));
    graphics.draw(new Line2D.Double(x, low, x, high));
    graphics.draw(new Line2D.Double(x - CAP, low, x + CAP, low));
    graphics.draw(new Line2D.Double(x - CAP, high, x + CAP, high));
  }
}
