/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.common.error.MissingNamenode;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Held;
import io.crail.spark.application.Applications.Report;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import org.apache.spark.util.Utils;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Utility$;
import scala.xml.XML$;

/**
 * The tab of Spark's user interface with what the application holds in the store at the moment, and
 * what its executors have moved. Thread-safe.
 */
final class CrailTab extends SparkUITab {
  private static final String PREFIX = "crail";

  /** How long a page waits for the namenodes. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private CrailTab(SparkUI ui, ApplicationStore application, TaskStatistics statistics) {
    super(ui, PREFIX);
    attachPage(new Page(this, application, statistics));
  }

  /** Adds the tab, unless another part of the plugin has done it, or there is no interface. */
  static synchronized void attach(SparkContext spark, ApplicationStore application) {
    Option<SparkUI> ui = spark.ui();
    if (ui.isEmpty() || ui.get().getTabs().exists(tab -> tab instanceof CrailTab)) {
      return;
    }
    TaskStatistics statistics = new TaskStatistics();
    spark.addSparkListener(statistics);
    ui.get().attachTab(new CrailTab(ui.get(), application, statistics));
  }

  private static final class Page extends WebUIPage {
    private final CrailTab tab;
    private final ApplicationStore application;
    private final TaskStatistics statistics;

    Page(CrailTab tab, ApplicationStore application, TaskStatistics statistics) {
      super("");
      this.tab = tab;
      this.application = application;
      this.statistics = statistics;
    }

    @Override
    public Seq<Node> render(HttpServletRequest request) {
      String html = "<div>" + held() + executors() + "</div>";
      Seq<Node> content = XML$.MODULE$.loadString(html);
      return UIUtils.headerSparkPage(
          request, "Crail", () -> content, tab, Option.empty(), false, false, false);
    }

    private String held() {
      Report report;
      try {
        report = application.held(PATIENCE);
      } catch (Exception e) {
        // Whatever it is, people want to read it.
        return "<p>The store does not say what the application holds: " + escaped(e) + "</p>";
      }
      StringBuilder html = new StringBuilder();
      for (Application held : report.applications()) {
        html.append(
            table(
                row("th", "Application", "Roots", "Held", "Files", "Bytes")
                    + row(held.id(), held.roots().size(), "shuffle", held.shuffle())
                    + row(held.id(), held.roots().size(), "broadcast", held.broadcast())));
      }
      for (MissingNamenode each : report.missing()) {
        html.append("<p>").append(escaped("no answer from " + each)).append("</p>");
      }
      return html.toString();
    }

    private static String row(Object id, Object roots, String kind, Held held) {
      return row("td", id, roots, kind, held.files(), bytes(held.bytes()));
    }

    private String executors() {
      StringBuilder rows = new StringBuilder();
      rows.append(row("th", "Executor", "Written", "Read", "Fetch failures"));
      for (TaskStatistics.Row each : statistics.rows()) {
        rows.append(
            row(
                "td",
                each.executor(),
                bytes(each.bytesWritten()),
                bytes(each.bytesRead()),
                each.fetchFailures()));
      }
      return table(rows.toString());
    }

    private static String table(String rows) {
      return "<table class='table table-bordered table-sm table-striped'>" + rows + "</table>";
    }

    private static String row(String cell, Object... values) {
      StringBuilder html = new StringBuilder("<tr>");
      for (Object value : values) {
        html.append('<').append(cell).append('>').append(escaped(value));
        html.append("</").append(cell).append('>');
      }
      return html.append("</tr>").toString();
    }

    private static String bytes(long bytes) {
      return Utils.bytesToString(bytes) + " (" + bytes + ")";
    }

    private static String escaped(Object value) {
      return Utility$.MODULE$.escape(String.valueOf(value));
    }
  }
}
