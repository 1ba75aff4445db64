/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Charts are written and read back. */
class ChartTest {
  @TempDir private Path directory;

  private static Distribution distribution(String name, int factor) {
    Histogram nanos = new Histogram(3);
    for (int i = 1; i <= 10_000; i++) {
      nanos.recordValue((long) i * factor);
    }
    return Distribution.of(name, nanos);
  }

  private static Chart latencies() {
    return Chart.latencies(
        "lookups", List.of(distribution("one & only", 10), distribution("another", 1000)));
  }

  private static Chart overSize() {
    return Chart.overSize(
        "reads",
        "throughput [MB/s]",
        List.of(
            new Line(
                "mapped",
                Map.of(
                    1L << 20,
                    Spread.ofAll(900, 1000, 1300),
                    1024L,
                    Spread.of(10),
                    65_536L,
                    Spread.of(500))),
            new Line("TCP", Map.of(1024L, Spread.of(5), 1L << 20, Spread.of(300)))));
  }

  private static Chart bars() {
    Map<String, Spread> crail = new LinkedHashMap<>();
    crail.put("GET 4 B", Spread.ofAll(3, 1, 2));
    crail.put("GET 1 KiB", Spread.of(2));
    return Chart.bars(
        "key-values",
        "operations/s",
        List.of(new Bars("Crail", crail), new Bars("Redis", Map.of("GET 4 B", Spread.of(1)))));
  }

  private Document svg(Chart chart) throws Exception {
    Path file = directory.resolve("chart.svg");
    chart.write(file);
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    return factory.newDocumentBuilder().parse(file.toFile());
  }

  private static List<String> texts(Document svg) {
    List<String> texts = new ArrayList<>();
    NodeList elements = svg.getElementsByTagName("text");
    for (int i = 0; i < elements.getLength(); i++) {
      texts.add(elements.item(i).getTextContent());
    }
    return texts;
  }

  private static void assertSays(Document svg, String... wanted) {
    List<String> texts = texts(svg);
    for (String text : wanted) {
      assertTrue(texts.contains(text), () -> text + " is not among " + texts);
    }
  }

  @Test
  void latenciesHaveAnAxisForTheirTailAndALegend() throws Exception {
    assertSays(
        svg(latencies()),
        "lookups",
        "latency [µs]",
        "percentile of the operations",
        "one & only",
        "another",
        "50",
        "90",
        "99",
        "99.9",
        "99.99",
        "1,000",
        "10,000");
  }

  /** One latency is 10 ns times its place, the other 1 us times its place. */
  @Test
  void percentilesHaveTheirValues() throws Exception {
    Document svg = svg(latencies());
    assertSays(svg, "50.0", "90.0", "5,001", "9,003");
    // 100 operations have no 99.9th percentile.
    Histogram few = new Histogram(3);
    few.recordValueWithCount(1234, 100);
    List<String> texts = texts(svg(Chart.latencies("x", List.of(Distribution.of("few", few)))));
    assertEquals(3, texts.stream().filter("1.23"::equals).count(), texts::toString);
  }

  @Test
  void aLineOfManyPointsIsDrawnInOnePiece() throws Exception {
    Chart chart =
        Chart.latencies("x", List.of(distribution("Crail, a", 10), distribution("Crail, b", 20)));
    NodeList paths = svg(chart).getElementsByTagName("path");
    long whole =
        IntStream.range(0, paths.getLength())
            .mapToObj(i -> ((Element) paths.item(i)).getAttribute("d"))
            .filter(path -> path.split(" L").length > 20)
            .count();
    assertEquals(2, whole, "the dashes of short pieces would make a solid line");
  }

  @Test
  void figuresThatAreFarApartHaveALogarithmicAxis() throws Exception {
    Line wide = new Line("wide", Map.of(1024L, Spread.of(3.14159), 4096L, Spread.of(4_321)));
    Line narrow = new Line("narrow", Map.of(1024L, Spread.of(310), 4096L, Spread.of(430)));
    Document far = svg(Chart.overSize("far", "y", List.of(wide)));
    assertSays(far, "3.14", "4,321", "10", "100", "1,000");
    assertFalse(texts(far).contains("0"), "which no such axis has");
    assertSays(svg(Chart.overSize("near", "y", List.of(narrow))), "310", "430", "0");
  }

  /**
   * The place of each text of a chart, as the place of its first letter and the size of its font.
   */
  private static List<Rectangle2D> placesOfValues(Document svg) {
    List<Rectangle2D> places = new ArrayList<>();
    NodeList elements = svg.getElementsByTagName("text");
    Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 10);
    FontRenderContext context = new FontRenderContext(null, true, true);
    for (int i = 0; i < elements.getLength(); i++) {
      Element text = (Element) elements.item(i);
      if (text.getTextContent().matches("30[0-9]")) {
        Rectangle2D size = font.getStringBounds(text.getTextContent(), context);
        places.add(
            new Rectangle2D.Double(
                Double.parseDouble(text.getAttribute("x")),
                Double.parseDouble(text.getAttribute("y")) + size.getY(),
                size.getWidth(),
                size.getHeight()));
      }
    }
    return places;
  }

  @Test
  void noValueCoversAnother() throws Exception {
    List<Line> lines = new ArrayList<>();
    for (int line = 0; line < 5; line++) {
      Map<Long, Spread> points = new LinkedHashMap<>();
      for (int point = 0; point < 5; point++) {
        points.put(1024L << point, Spread.of(300 + line + point % 2));
      }
      lines.add(new Line("line " + line, points));
    }
    List<Rectangle2D> places = placesOfValues(svg(Chart.overSize("x", "y", lines)));
    assertTrue(places.size() >= 5, places::toString);
    for (int i = 0; i < places.size(); i++) {
      for (Rectangle2D other : places.subList(i + 1, places.size())) {
        assertFalse(places.get(i).intersects(other), places.get(i) + " covers " + other);
      }
    }
  }

  @Test
  void aSystemHasOneColourInAllCharts() {
    List<Palette.Look> one = Palette.looks(List.of("Redis", "Crail, TCP", "Crail, same host"));
    List<Palette.Look> other = Palette.looks(List.of("Crail", "limit", "HDFS", "Redis, one key"));
    assertEquals(one.get(1), other.get(0));
    assertEquals(one.get(0), other.get(3));
    assertEquals(one.get(1).colour(), one.get(2).colour());
    assertNotEquals(one.get(1).stroke(), one.get(2).stroke());
    assertEquals(4, other.stream().map(Palette.Look::colour).distinct().count());
  }

  @Test
  void manyPointsHaveNoValues() throws Exception {
    List<Line> lines = new ArrayList<>();
    for (int line = 0; line < 9; line++) {
      Map<Long, Spread> points = new LinkedHashMap<>();
      for (int point = 0; point < 5; point++) {
        points.put(1024L << point, Spread.of(300.2 + line));
      }
      lines.add(new Line("line " + line, points));
    }
    assertFalse(texts(svg(Chart.overSize("x", "y", lines))).contains("301"));
    assertSays(svg(Chart.overSize("x", "y", lines.subList(0, 5))), "301");
  }

  @Test
  void sizesAreNamedAsOptionsNameThem() throws Exception {
    assertSays(
        svg(overSize()),
        "reads",
        "size of an operation [bytes]",
        "throughput [MB/s]",
        "mapped",
        "TCP",
        "1k",
        "64k",
        "1m");
  }

  @Test
  void aFigureIsDrawnOverTheLoad() throws Exception {
    Line line = new Line("flash", Map.of(1_000L, Spread.of(80), 100_000L, Spread.of(300)));
    assertSays(
        svg(Chart.overLoad("gets", "median latency [µs]", List.of(line))),
        "gets",
        "operations a second",
        "median latency [µs]",
        "flash",
        "1,000",
        "100,000");
  }

  private static Chart overTime(List<Span> spans) {
    double[] seconds = {0, 1, 2};
    return Chart.overTime(
        "load",
        "operations/s",
        List.of(
            new TimeLine("all", seconds, new double[] {10, 30, 20}),
            new TimeLine("lookup", seconds, new double[] {5, 6, 7})),
        spans);
  }

  @Test
  void timeHasWhatWentOnBelowIt() throws Exception {
    assertSays(svg(overTime(List.of())), "load", "operations/s", "time [s]", "all", "lookup");
    Document stages = svg(overTime(List.of(new Span("map", 0, 1), new Span("reduce", 1, 2))));
    assertSays(stages, "time [s]", "all", "map", "reduce");
    assertEquals(
        1, texts(stages).stream().filter("map"::equals).count(), "spans are not in the legend");
    assertThrows(
        IllegalArgumentException.class, () -> new TimeLine("x", new double[1], new double[2]));
  }

  @Test
  void manyLinesOverTimeHaveAPanelEach() throws Exception {
    List<TimeLine> lines = new ArrayList<>();
    for (String name : List.of("1 x 1", "1 x 2", "2 x 1", "2 x 2")) {
      lines.add(new TimeLine(name, new double[] {0, 2, 4}, new double[] {0, 30_000, 0}));
    }
    Document svg = svg(Chart.overTime("load", "operations/s", lines, List.of()));
    assertSays(svg, "load", "operations/s", "time [s]", "1 x 1", "1 x 2", "2 x 1", "2 x 2");
    assertEquals(4, texts(svg).stream().filter("20k"::equals).count(), "one scale for each panel");
    assertFalse(texts(svg).contains("10k"), "a low panel has no room for more labels");
  }

  @Test
  void barsHaveNamesBelowAndFiguresAboveThem() throws Exception {
    assertSays(svg(bars()), "key-values", "operations/s", "Crail", "Redis", "GET 4 B", "GET 1 KiB");
    Map<String, Spread> far = new LinkedHashMap<>();
    far.put("Crail", Spread.of(1_913_740));
    far.put("HDFS", Spread.ofAll(15_119, 15_000, 15_221));
    Document svg = svg(Chart.bars("lookups", "1/s", List.of(new Bars("one client", far))));
    assertSays(svg, "1.91M", "15.1k", "Crail", "HDFS");
    assertFalse(texts(svg).contains("one client"), "a single group needs no legend");
  }

  @Test
  void aSpreadIsAWhisker() throws Exception {
    Chart narrow = Chart.bars("x", "y", List.of(new Bars("a", Map.of("b", new Spread(2, 2, 2)))));
    Chart wide = Chart.bars("x", "y", List.of(new Bars("a", Map.of("b", new Spread(2, 1, 2)))));
    int without = svg(narrow).getElementsByTagName("line").getLength();
    assertEquals(without + 3, svg(wide).getElementsByTagName("line").getLength());
  }

  @Test
  void picturesAreNotBlank() throws Exception {
    for (Chart chart :
        List.of(latencies(), overSize(), bars(), overTime(List.of(new Span("map", 0, 1))))) {
      Path file = directory.resolve("CHART.PNG");
      chart.write(file);
      BufferedImage image = ImageIO.read(file.toFile());
      Set<Integer> colours = new HashSet<>();
      for (int x = 0; x < image.getWidth(); x++) {
        for (int y = 0; y < image.getHeight(); y++) {
          colours.add(image.getRGB(x, y));
        }
      }
      assertTrue(colours.contains(0xffffffff), "white behind");
      assertTrue(colours.contains(0xff0072b2), "the first line");
      assertTrue(colours.contains(0xffd55e00), "the second line");
    }
  }

  @Test
  void nothingMeasuredIsAChartWithoutLines() throws Exception {
    assertSays(
        svg(Chart.latencies("none", List.of(Distribution.of("empty", new Histogram(3))))), "empty");
    assertSays(svg(Chart.overSize("none", "y", List.of(new Line("empty", Map.of())))), "empty");
    svg(Chart.bars("none", "y", List.of()));
    svg(Chart.overTime("none", "y", List.of(), List.of()));
  }

  @Test
  void linesOfTheSameNameAreBothThere() throws Exception {
    assertSays(
        svg(Chart.latencies("x", List.of(distribution("same", 10), distribution("same", 20)))),
        "same",
        "same (2)");
  }

  @Test
  void aDistributionIsThatOfTheHistogram() {
    Histogram nanos = new Histogram(3);
    nanos.recordValueWithCount(1000, 75);
    nanos.recordValueWithCount(2000, 25);
    Distribution distribution = Distribution.of("x", nanos);
    int last = distribution.micros().length - 1;
    assertEquals(1, distribution.micros()[0], 0.01);
    assertEquals(0.75, distribution.fractions()[0], 1e-9);
    assertEquals(2, distribution.micros()[last], 0.01);
    assertEquals(1, distribution.fractions()[last], 1e-9);
    assertThrows(
        IllegalArgumentException.class,
        () -> new Distribution("x", new double[1], new double[2], new double[5], 2));
  }

  @Test
  void aSpreadIsMedianLowestAndHighest() {
    assertEquals(new Spread(2, 1, 9), Spread.ofAll(9, 1, 2));
    assertEquals(new Spread(2.5, 1, 4), Spread.ofAll(4, 1, 2, 3));
    assertEquals(new Spread(7, 7, 7), Spread.ofAll(7));
    assertFalse(Spread.of(7).isWide());
    assertArrayEquals(
        new double[] {1},
        new Distribution("x", new double[] {1}, new double[] {1}, new double[5], 1).micros());
  }

  @ParameterizedTest
  @ValueSource(strings = {"chart.pdf", "chart", "svg", "chart.svg.gz"})
  void otherEndsOfNamesAreRefused(String name) {
    Path file = directory.resolve(name);
    for (var refused :
        List.of(
            assertThrows(IOException.class, () -> Chart.check(file)),
            assertThrows(IOException.class, () -> bars().write(file)))) {
      assertTrue(refused.getMessage().contains(".svg or .png"), refused.getMessage());
    }
    assertFalse(Files.exists(file));
  }

  @Test
  void placesThatCannotBeWrittenAreRefusedBeforehand() throws Exception {
    Chart.check(directory.resolve("chart.svg"));
    assertFalse(Files.exists(directory.resolve("chart.svg")), "only looked at");
    Path nowhere = directory.resolve("missing").resolve("chart.svg");
    assertTrue(
        assertThrows(IOException.class, () -> Chart.check(nowhere))
            .getMessage()
            .contains("no directory"));
    Path taken = Files.createDirectory(directory.resolve("taken.png"));
    assertThrows(IOException.class, () -> Chart.check(taken));
  }
}
