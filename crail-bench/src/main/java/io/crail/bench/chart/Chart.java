/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.GraphicsEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.StandardChartTheme;
import org.jfree.chart.axis.SymbolAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.labels.XYItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.CombinedDomainXYPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.renderer.xy.AbstractXYItemRenderer;
import org.jfree.chart.renderer.xy.XYAreaRenderer;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.text.TextUtils;
import org.jfree.chart.title.TextTitle;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.Range;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.data.general.DatasetUtils;
import org.jfree.data.xy.XYDataset;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.jfree.data.xy.YIntervalSeries;
import org.jfree.data.xy.YIntervalSeriesCollection;

/**
 * A chart, ready to be written. Drawing needs no screen, only a font.
 *
 * <p>Immutable. Only one thread at a time may write it.
 */
public final class Chart {
  private static final Color GRID = new Color(0xdd, 0xdd, 0xdd);

  private static final BasicStroke WHISKER = new BasicStroke(1.2f);
  private static final Palette.Look SPAN =
      new Palette.Look(
          new Color(0x99, 0x99, 0x99),
          new BasicStroke(7, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER));

  /** How much higher the lines of a chart over time are than the spans below them. */
  private static final int SHARE_OF_LINES = 3;

  private static final double MIN_MICROS = 0.001;

  /** An axis is logarithmic when its highest figure is so many times its lowest. */
  private static final double WIDE = 20;

  /** Most points of a chart with a text beside them. */
  private static final int MOST_VALUES = 40;

  /** The part of an axis above the highest figure, for texts. */
  private static final double ROOM = 0.12;

  /** More lines over time would hide each other, so each gets a panel of its own. */
  private static final int MOST_LINES = 3;

  private static final double MARGIN = 0.08;
  private static final double PANEL_GAP = 12;
  private static final int PANEL_TICKS = 3;

  static {
    // Without this, a machine with a display but a Java without graphics libraries could draw
    // nothing.
    if (System.getProperty("java.awt.headless") == null) {
      System.setProperty("java.awt.headless", "true");
    }
    // The workaround for an error of Java 1.4 would draw text as outlines of letters.
    TextUtils.setUseDrawRotatedStringWorkaround(false);
  }

  private final JFreeChart drawing;

  private Chart(JFreeChart drawing) {
    this.drawing = drawing;
  }

  /**
   * A chart of latencies up to the 99.99th percentile, on an axis that gives each further nine as
   * much room as the one before. A line ends earlier where there were fewer operations.
   *
   * @param lines one or more; a line without points appears in the legend alone
   */
  public static Chart latencies(String title, List<Distribution> lines) {
    XYSeriesCollection data = new XYSeriesCollection();
    for (int i = 0; i < lines.size(); i++) {
      XYSeries series =
          new XYSeries(key(lines.stream().map(Distribution::name).toList(), i), true, false);
      addTail(series, lines.get(i));
      data.addSeries(series);
    }
    ValueAxis percentiles = new TailAxis("percentile of the operations");
    ValueAxis micros = figures("latency [µs]", data);
    XYLineAndShapeRenderer renderer =
        new XYLineAndShapeRenderer(true, true) {
          private static final long serialVersionUID = 1;

          @Override
          public boolean getItemShapeVisible(int line, int point) {
            // The legend asks for the first point, also of a line without any.
            return point < data.getItemCount(line)
                && TailAxis.MARKS.contains(data.getXValue(line, point));
          }
        };
    // Otherwise each short piece of a line begins its dashes anew, and no gap is ever seen.
    renderer.setDrawSeriesLineAsPath(true);
    int values = lines.size() * TailAxis.MARKS.size();
    return lines(
        title,
        data,
        percentiles,
        micros,
        renderer,
        values,
        (all, line, point) ->
            renderer.getItemShapeVisible(line, point)
                ? Numbers.brief(all.getYValue(line, point))
                : null);
  }

  private static void addTail(XYSeries series, Distribution line) {
    double end = Math.min(TailAxis.MOST, line.operations());
    double highest = 0;
    for (int point = 0; point < line.micros().length; point++) {
      double above = 1 / (1 - line.fractions()[point]);
      highest = Math.max(MIN_MICROS, line.micros()[point]);
      if (above < end) {
        // A logarithmic axis has no zero.
        series.addOrUpdate(above, highest);
      }
    }
    if (highest > 0) {
      series.addOrUpdate(end, highest);
    }
    for (int i = 0; i < line.marks().length; i++) {
      if (TailAxis.MARKS.get(i) <= line.operations()) {
        series.addOrUpdate(
            TailAxis.MARKS.get(i).doubleValue(), Math.max(MIN_MICROS, line.marks()[i]));
      }
    }
  }

  /** The axis of any figure: logarithmic where the low figures would lie on the ground. */
  private static ValueAxis figures(String what, XYDataset data) {
    Range range = DatasetUtils.findRangeBounds(data, true);
    if (range != null
        && range.getLowerBound() > 0
        && range.getUpperBound() / range.getLowerBound() >= WIDE) {
      return new PowerAxis(what, 10, Numbers.plain());
    }
    return new LinearAxis(what, range == null ? 0 : range.getUpperBound(), ROOM);
  }

  /**
   * A chart of any figure over the size of an operation. The axis of the size is logarithmic.
   *
   * @param what the label of the other axis, with its unit: {@code throughput [MB/s]}
   */
  public static Chart overSize(String title, String what, List<Line> lines) {
    return over(
        title, new PowerAxis("size of an operation [bytes]", 2, Numbers.bytes()), what, lines);
  }

  /**
   * A chart of any figure over the load. The axis of the load is logarithmic.
   *
   * @param what the label of the other axis, with its unit: {@code median latency [µs]}
   */
  public static Chart overLoad(String title, String what, List<Line> lines) {
    return over(title, new PowerAxis("operations a second", 10, Numbers.plain()), what, lines);
  }

  private static Chart over(String title, ValueAxis below, String what, List<Line> lines) {
    YIntervalSeriesCollection data = new YIntervalSeriesCollection();
    int values = 0;
    for (int i = 0; i < lines.size(); i++) {
      values += lines.get(i).points().size();
      YIntervalSeries series = new YIntervalSeries(key(lines.stream().map(Line::name).toList(), i));
      for (Map.Entry<Long, Spread> point : lines.get(i).points().entrySet()) {
        Spread spread = point.getValue();
        series.add(point.getKey(), spread.value(), spread.low(), spread.high());
      }
      data.addSeries(series);
    }
    XYErrorRenderer renderer = new XYErrorRenderer();
    renderer.setDrawXError(false);
    renderer.setErrorStroke(WHISKER);
    renderer.setDefaultLinesVisible(true);
    renderer.setDefaultShapesVisible(true);
    return lines(
        title,
        data,
        below,
        figures(what, data),
        renderer,
        values,
        (all, line, point) -> Numbers.brief(all.getYValue(line, point)));
  }

  /**
   * A chart of any figure over time, and below it what went on in the meantime. Each line has a
   * panel of its own, with the same scale, if there are more than three.
   *
   * @param what the label of the axis of the figures, with its unit: {@code operations/s}
   * @param spans from top to bottom; may be empty
   */
  public static Chart overTime(String title, String what, List<TimeLine> lines, List<Span> spans) {
    List<Palette.Look> looks = Palette.looks(lines.stream().map(TimeLine::name).toList());
    double top =
        lines.stream().flatMapToDouble(line -> DoubleStream.of(line.figures())).max().orElse(0);
    double end =
        DoubleStream.concat(
                lines.stream().flatMapToDouble(line -> DoubleStream.of(line.seconds())),
                spans.stream().mapToDouble(Span::end))
            .max()
            .orElse(0);
    boolean apart = lines.size() > MOST_LINES;
    CombinedDomainXYPlot all = new CombinedDomainXYPlot(new LinearAxis("time [s]", end, 0));
    all.setGap(apart ? PANEL_GAP : all.getGap());
    List<XYPlot> plots = new ArrayList<>();
    if (apart) {
      for (int i = 0; i < lines.size(); i++) {
        LinearAxis axis = new LinearAxis(lines.get(i).name(), top, ROOM, PANEL_TICKS);
        plots.add(over(List.of(lines.get(i)), looks.subList(i, i + 1), axis));
      }
    } else {
      plots.add(over(lines, looks, new LinearAxis(what, top, ROOM)));
    }
    plots.forEach(plot -> all.add(plot, SHARE_OF_LINES));
    if (!spans.isEmpty()) {
      plots.add(spans(spans));
      all.add(plots.get(plots.size() - 1), apart ? SHARE_OF_LINES : 1);
    }
    JFreeChart drawing = new JFreeChart(title, null, all, !apart);
    style(drawing);
    for (XYPlot plot : plots) {
      plot.setDomainGridlinePaint(GRID);
      plot.setRangeGridlinePaint(GRID);
      plot.setOutlineVisible(false);
      // All stand exactly above the one axis.
      plot.setAxisOffset(RectangleInsets.ZERO_INSETS);
    }
    if (apart) {
      drawing.addSubtitle(new TextTitle(what, new Font(Font.SANS_SERIF, Font.PLAIN, 12)));
    }
    return new Chart(drawing);
  }

  /** Lines over time, with the areas below them if there is one line. */
  private static XYPlot over(List<TimeLine> lines, List<Palette.Look> looks, LinearAxis axis) {
    XYSeriesCollection data = new XYSeriesCollection();
    for (int i = 0; i < lines.size(); i++) {
      TimeLine line = lines.get(i);
      XYSeries series = new XYSeries(key(lines.stream().map(TimeLine::name).toList(), i), false);
      for (int point = 0; point < line.seconds().length; point++) {
        series.add(line.seconds()[point], line.figures()[point]);
      }
      data.addSeries(series);
    }
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, false);
    XYPlot plot = new XYPlot(data, null, axis, renderer);
    Palette.apply(looks, renderer);
    if (lines.size() == 1) {
      XYAreaRenderer area = new XYAreaRenderer(XYAreaRenderer.AREA);
      Palette.apply(List.of(looks.get(0).faint()), area);
      area.setDefaultSeriesVisibleInLegend(false);
      plot.setDataset(1, data);
      plot.setRenderer(1, area);
    }
    return plot;
  }

  /** A row for each span, with a thick line from its begin to its end. */
  private static XYPlot spans(List<Span> spans) {
    XYSeriesCollection data = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, false);
    renderer.setDefaultSeriesVisibleInLegend(false);
    for (int i = 0; i < spans.size(); i++) {
      XYSeries series = new XYSeries(i);
      series.add(spans.get(i).begin(), i);
      series.add(spans.get(i).end(), i);
      data.addSeries(series);
    }
    Palette.apply(Collections.nCopies(spans.size(), SPAN), renderer);
    SymbolAxis names = new SymbolAxis(null, spans.stream().map(Span::name).toArray(String[]::new));
    names.setGridBandsVisible(false);
    names.setInverted(true);
    return new XYPlot(data, null, names, renderer);
  }

  /**
   * A chart of bars side by side. Each has a whisker from lowest to highest where they differ.
   *
   * @param what the label of the axis of the figures, with its unit
   * @param groups the bars of each colour
   */
  public static Chart bars(String title, String what, List<Bars> groups) {
    DefaultCategoryDataset data = new DefaultCategoryDataset();
    double top = 0;
    for (int i = 0; i < groups.size(); i++) {
      String key = key(groups.stream().map(Bars::name).toList(), i);
      for (Map.Entry<String, Spread> bar : groups.get(i).bars().entrySet()) {
        data.addValue(bar.getValue().value(), key, bar.getKey());
        top = Math.max(top, bar.getValue().high());
      }
    }
    // The bars of a single group differ by what stands below them.
    boolean legend = groups.size() > 1;
    JFreeChart drawing =
        ChartFactory.createBarChart(
            title, null, what, data, PlotOrientation.VERTICAL, legend, false, false);
    CategoryPlot plot = drawing.getCategoryPlot();
    plot.setRenderer(new SpreadBarRenderer(groups));
    // The bars alone would set the range, and cut whiskers and figures off.
    plot.setRangeAxis(new LinearAxis(what, top, ROOM));
    plot.getDomainAxis().setMaximumCategoryLabelLines(4);
    style(drawing);
    plot.setRangeGridlinePaint(GRID);
    plot.setOutlineVisible(false);
    return new Chart(drawing);
  }

  /**
   * Checks that a chart can be written to a file, before there is a chart.
   *
   * @throws IOException that says what is wrong: the ending of the name, the directory, or a
   *     missing font
   */
  public static void check(Path file) throws IOException {
    ChartFormat.of(file);
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new IOException(file + ": there is no directory " + directory);
    }
    if (Files.isDirectory(file) || !Files.isWritable(Files.exists(file) ? file : directory)) {
      throw new IOException(file + ": cannot be written");
    }
    try {
      GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames();
    } catch (RuntimeException | LinkageError e) {
      throw new IOException(
          "charts need a font; on Debian: apt-get install fontconfig fonts-dejavu-core (" + e + ")",
          e);
    }
  }

  /**
   * Writes the chart, and replaces the content of the file.
   *
   * @param file its name ends with {@code .svg} or {@code .png}
   * @throws IOException when the file cannot be written, or its name has another ending
   */
  public void write(Path file) throws IOException {
    ChartFormat.of(file).write(drawing, file);
  }

  /**
   * A chart of lines.
   *
   * @param values how many points have a text
   * @param texts the text beside a point; null for none
   */
  private static Chart lines(
      String title,
      XYDataset data,
      ValueAxis x,
      ValueAxis y,
      AbstractXYItemRenderer renderer,
      int values,
      XYItemLabelGenerator texts) {
    XYPlot plot = new XYPlot(data, x, y, renderer);
    JFreeChart drawing = new JFreeChart(title, null, plot, true);
    style(drawing);
    plot.setDomainGridlinePaint(GRID);
    plot.setRangeGridlinePaint(GRID);
    plot.setOutlineVisible(false);
    // Room for the texts.
    x.setLowerMargin(MARGIN);
    x.setUpperMargin(MARGIN);
    y.setUpperMargin(MARGIN);
    List<Palette.Look> looks = looks(data);
    Palette.apply(looks, renderer);
    // More of them cover the lines.
    if (values <= MOST_VALUES) {
      plot.addAnnotation(new ValueTexts(data, texts, looks));
    }
    return new Chart(drawing);
  }

  private static void style(JFreeChart drawing) {
    StandardChartTheme theme = new StandardChartTheme("crail");
    theme.setExtraLargeFont(new Font(Font.SANS_SERIF, Font.BOLD, 15));
    theme.setLargeFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    theme.setRegularFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
    theme.setSmallFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
    theme.setPlotBackgroundPaint(Color.WHITE);
    theme.setBarPainter(new StandardBarPainter());
    theme.setShadowVisible(false);
    theme.apply(drawing);
    drawing.setBackgroundPaint(Color.WHITE);
  }

  private static List<Palette.Look> looks(XYDataset data) {
    return Palette.looks(
        IntStream.range(0, data.getSeriesCount())
            .mapToObj(line -> data.getSeriesKey(line).toString())
            .toList());
  }

  /** The key of a line. The library needs a different key for each line. */
  private static String key(List<String> names, int index) {
    String name = names.get(index);
    int same = (int) names.subList(0, index).stream().filter(name::equals).count();
    return same == 0 ? name : name + " (" + (same + 1) + ")";
  }
}
