/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.Shape;
import java.awt.geom.Line2D;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jfree.chart.annotations.AbstractXYAnnotation;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.labels.XYItemLabelGenerator;
import org.jfree.chart.plot.PlotRenderingInfo;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.data.xy.IntervalXYDataset;
import org.jfree.data.xy.XYDataset;

/**
 * The figures beside the points of a chart. None covers another, a marker or a whisker, and a line
 * only where there is no other place. A figure for which there is no place is left out.
 */
final class ValueTexts extends AbstractXYAnnotation {
  private static final long serialVersionUID = 1;
  private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 10);
  private static final double MARKER = 7;

  /** Between a point and its figure. */
  private static final double GAP = 4;

  /** Further away, for a place that no line crosses. */
  private static final double WIDE_GAP = 10;

  /**
   * Places of the middle of a figure, relative to its point, in the order in which they are tried.
   */
  private static final int[][] PLACES = {
    {1, -1}, {-1, -1}, {1, 1}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}
  };

  private final transient XYDataset data;
  private final transient XYItemLabelGenerator texts;
  private final transient List<Palette.Look> looks;

  /**
   * Creates the figures of all lines.
   *
   * @param texts the text beside a point; null for none
   */
  ValueTexts(XYDataset data, XYItemLabelGenerator texts, List<Palette.Look> looks) {
    this.data = data;
    this.texts = texts;
    this.looks = looks;
  }

  @Override
  public void draw(
      Graphics2D graphics,
      XYPlot plot,
      Rectangle2D area,
      ValueAxis x,
      ValueAxis y,
      int renderer,
      PlotRenderingInfo info) {
    Drawing drawing = new Drawing(area, x, y);
    graphics.setFont(FONT);
    for (int line = 0; line < data.getSeriesCount(); line++) {
      for (int item = 0; item < data.getItemCount(line); item++) {
        String text = texts.generateLabel(data, line, item);
        if (text != null) {
          Rectangle2D size = FONT.getStringBounds(text, graphics.getFontRenderContext());
          Rectangle2D place = drawing.place(drawing.point(line, item), size);
          if (place != null) {
            drawing.taken.add(place);
            draw(graphics, text, place, -size.getY(), looks.get(line).colour());
          }
        }
      }
    }
  }

  private static void draw(
      Graphics2D graphics, String text, Rectangle2D place, double ascent, Color colour) {
    graphics.setPaint(colour);
    graphics.drawString(text, (float) place.getX(), (float) (place.getY() + ascent));
  }

  /** What is in the way on an area. */
  private final class Drawing {
    private final Rectangle2D area;
    private final ValueAxis x;
    private final ValueAxis y;
    private final List<Rectangle2D> taken = new ArrayList<>();
    private final List<Line2D> lines = new ArrayList<>();

    Drawing(Rectangle2D area, ValueAxis x, ValueAxis y) {
      this.area = area;
      this.x = x;
      this.y = y;
      for (int line = 0; line < data.getSeriesCount(); line++) {
        for (int item = 0; item < data.getItemCount(line); item++) {
          add(line, item);
        }
      }
    }

    private void add(int line, int item) {
      Point2D point = point(line, item);
      if (item > 0) {
        lines.add(new Line2D.Double(point(line, item - 1), point));
      }
      if (texts.generateLabel(data, line, item) == null) {
        return;
      }
      double top = point.getY() - MARKER / 2;
      double bottom = point.getY() + MARKER / 2;
      if (data instanceof IntervalXYDataset spreads) {
        top = Math.min(top, onY(spreads.getEndYValue(line, item)));
        bottom = Math.max(bottom, onY(spreads.getStartYValue(line, item)));
      }
      taken.add(new Rectangle2D.Double(point.getX() - MARKER / 2, top, MARKER, bottom - top));
    }

    Point2D point(int line, int item) {
      return new Point2D.Double(
          x.valueToJava2D(data.getXValue(line, item), area, RectangleEdge.BOTTOM),
          onY(data.getYValue(line, item)));
    }

    private double onY(double value) {
      return y.valueToJava2D(value, area, RectangleEdge.LEFT);
    }

    /** A free place for a text of a size; null when there is none. */
    Rectangle2D place(Point2D point, Rectangle2D size) {
      List<Rectangle2D> free = new ArrayList<>();
      for (double gap : new double[] {GAP, WIDE_GAP}) {
        for (int[] each : PLACES) {
          Rectangle2D place =
              new Rectangle2D.Double(
                  point.getX() + each[0] * (gap + size.getWidth() / 2) - size.getWidth() / 2,
                  point.getY() + each[1] * (gap + size.getHeight() / 2) - size.getHeight() / 2,
                  size.getWidth(),
                  size.getHeight());
          if (area.contains(place) && taken.stream().noneMatch(place::intersects)) {
            free.add(place);
          }
        }
      }
      Predicate<Shape> crossed =
          place -> lines.stream().anyMatch(((Rectangle2D) place)::intersectsLine);
      return free.stream()
          .filter(place -> !crossed.test(place))
          .findFirst()
          .orElse(free.isEmpty() ? null : free.get(0));
    }
  }
}
