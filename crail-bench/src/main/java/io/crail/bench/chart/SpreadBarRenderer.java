/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.Paint;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.util.List;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.CategoryItemRendererState;
import org.jfree.data.category.CategoryDataset;

/** Bars with a whisker from the lowest to the highest figure, and the figure above. */
final class SpreadBarRenderer extends BarRenderer {
  private static final long serialVersionUID = 1;
  private static final double CAP = 3;

  private static final double GAP = 4;
  private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 10);

  private final transient List<Bars> groups;
  private final transient List<Palette.Look> looks;

  SpreadBarRenderer(List<Bars> groups) {
    this.groups = groups;
    looks =
        Palette.looks(
            groups.size() == 1
                ? List.copyOf(groups.get(0).bars().keySet())
                : groups.stream().map(Bars::name).toList());
    setItemMargin(0.05);
    setMaximumBarWidth(0.15);
    if (groups.size() > 1) {
      Palette.apply(looks, this);
    }
  }

  @Override
  public Paint getItemPaint(int row, int column) {
    return groups.size() == 1 ? looks.get(column).colour() : lookupSeriesPaint(row);
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
    if (spread == null) {
      return;
    }
    double x =
        calculateBarW0(plot, plot.getOrientation(), area, categories, state, row, column)
            + state.getBarWidth() / 2;
    double low = values.valueToJava2D(spread.low(), area, plot.getRangeAxisEdge());
    double high = values.valueToJava2D(spread.high(), area, plot.getRangeAxisEdge());
    graphics.setPaint(Color.DARK_GRAY);
    String text = Numbers.brief(spread.value());
    graphics.setFont(FONT);
    double width = FONT.getStringBounds(text, graphics.getFontRenderContext()).getWidth();
    graphics.drawString(text, (float) (x - width / 2), (float) (high - GAP));
    if (!spread.isWide()) {
      return;
    }
    graphics.setStroke(new BasicStroke(1.2f));
    graphics.draw(new Line2D.Double(x, low, x, high));
    graphics.draw(new Line2D.Double(x - CAP, low, x + CAP, low));
    graphics.draw(new Line2D.Double(x - CAP, high, x + CAP, high));
  }
}
