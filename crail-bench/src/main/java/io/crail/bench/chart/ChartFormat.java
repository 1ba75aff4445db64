/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.awt.Dimension;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.batik.svggen.SVGGraphics2D;
import org.jfree.chart.JFreeChart;
import org.w3c.dom.Document;

/** The formats of a chart. The ending of a file's name selects one. */
enum ChartFormat {
  /** Lines and text, sharp at any size. */
  SVG {
    @Override
    void write(JFreeChart chart, Path file) throws IOException {
      SVGGraphics2D graphics = new SVGGraphics2D(emptyDocument());
      graphics.setSVGCanvasSize(new Dimension(WIDTH, HEIGHT));
      chart.draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
      // The library's own writer adds a document type, which some readers would fetch first.
      try (Writer out = Files.newBufferedWriter(file)) {
        TransformerFactory.newInstance()
            .newTransformer()
            .transform(new DOMSource(graphics.getRoot()), new StreamResult(out));
      } catch (TransformerException e) {
        throw new IOException(file + ": " + e.getMessage(), e);
      }
    }
  },

  /** Pixels, two for each unit of the drawing. */
  PNG {
    @Override
    void write(JFreeChart chart, Path file) throws IOException {
      if (!ImageIO.write(
          chart.createBufferedImage(2 * WIDTH, 2 * HEIGHT, WIDTH, HEIGHT, null),
          "png",
          file.toFile())) {
        throw new IOException(file + ": this Java writes no PNG");
      }
    }
  };

  private static final int WIDTH = 800;
  private static final int HEIGHT = 480;

  /**
   * The format for a file's name.
   *
   * @throws IOException when the ending is none of a format
   */
  static ChartFormat of(Path file) throws IOException {
    String name = file.toString().toLowerCase(Locale.ROOT);
    for (ChartFormat format : values()) {
      if (name.endsWith("." + format.name().toLowerCase(Locale.ROOT))) {
        return format;
      }
    }
    throw new IOException(file + ": charts end in .svg or .png");
  }

  abstract void write(JFreeChart chart, Path file) throws IOException;

  private static Document emptyDocument() {
    try {
      return DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .getDOMImplementation()
          .createDocument("http://www.w3.org/2000/svg", "svg", null);
    } catch (ParserConfigurationException e) {
      throw new AssertionError("the JDK has an XML parser", e);
    }
  }
}
