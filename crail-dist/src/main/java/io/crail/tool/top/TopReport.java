/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

import io.crail.common.Printable;
import io.crail.tool.report.DatanodeReport;
import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ReportText;
import io.crail.tool.report.TextTable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;

/**
 * What goes on in a cluster.
 *
 * @param at when it was asked
 * @param seconds how long clients were watched for this
 * @param all all clients together
 * @param clients the clients that do most, the first one most
 * @param otherClients how many more there are
 * @param datanodes the datanodes that serve most bytes
 * @param otherDatanodes how many more there are
 * @param paths the paths that are looked up most
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record TopReport(
    Instant at,
    double seconds,
    ClientRate all,
    List<ClientRate> clients,
    int otherClients,
    List<DatanodeRate> datanodes,
    int otherDatanodes,
    List<PathRate> paths,
    List<String> missing)
    implements PartialReport {
  private static final int WIDTH = 80;

  /** The columns beside the first one, with the spaces between them. */
  private static final int FIGURES_WIDTH = 47;

  /** The column of lookups before a path, with the spaces between them. */
  private static final int LOOKUPS_WIDTH = 12;

  private static final ClientRate NOTHING = new ClientRate("", "", "", 0, 0, 0, 0, 0, 0);

  /** What clients are put together by. */
  public enum By {
    /** Each by itself. */
    CLIENT(each -> each),
    /** By user. */
    USER(each -> each.as(each.user(), "", "")),
    /** By host. */
    HOST(each -> each.as("", each.host(), ""));

    private final UnaryOperator<ClientRate> group;

    By(UnaryOperator<ClientRate> group) {
      this.group = group;
    }
  }

  /** What decides who is first. */
  public enum Order {
    /** Requests of all kinds. */
    OPERATIONS(ClientRate::operations),
    /** Bytes whose places were given out. */
    LOCATED(ClientRate::locatedBytes),
    /** Bytes that were made visible. */
    WRITTEN(ClientRate::committedBytes);

    private final ToDoubleFunction<ClientRate> figure;

    Order(ToDoubleFunction<ClientRate> figure) {
      this.figure = figure;
    }
  }

  /**
   * How a report is made.
   *
   * @param by what clients are put together by
   * @param order what decides who is first
   * @param most the most lines of a table
   */
  public record Manner(By by, Order order, int most) {}

  /** Chooses what is shown. */
  static TopReport of(
      double seconds,
      List<ClientRate> clients,
      List<DatanodeReport> datanodes,
      List<PathRate> paths,
      List<String> missing,
      Manner manner) {
    Map<List<String>, ClientRate> groups = new LinkedHashMap<>();
    for (ClientRate each : clients) {
      ClientRate group = manner.by.group.apply(each);
      groups.merge(List.of(group.user(), group.host(), group.client()), group, ClientRate::and);
    }
    List<ClientRate> sorted = new ArrayList<>(groups.values());
    sorted.sort(Comparator.comparingDouble(manner.order.figure).reversed());
    List<DatanodeRate> served =
        datanodes.stream()
            .map(DatanodeRate::of)
            .sorted(Comparator.comparingLong(DatanodeRate::bytes).reversed())
            .toList();
    return new TopReport(
        Instant.now(),
        seconds,
        clients.stream().reduce(NOTHING, ClientRate::and),
        first(sorted, manner.most),
        Math.max(0, sorted.size() - manner.most),
        first(served, manner.most),
        Math.max(0, served.size() - manner.most),
        first(
            paths.stream()
                .sorted(Comparator.comparingDouble(PathRate::lookups).reversed())
                .toList(),
            manner.most),
        missing);
  }

  private static <T> List<T> first(List<T> list, int most) {
    return List.copyOf(list.subList(0, Math.min(most, list.size())));
  }

  @Override
  public void print(ReportText text) {
    text.line(
        "%s, %s operations/s, %s/s located, %s/s written",
        ReportText.count(all.clients(), "client"),
        number(all.operations()),
        text.size(Math.round(all.locatedBytes())),
        text.size(Math.round(all.committedBytes())));
    text.line("");
    TextTable table = new TextTable("-client", "lookups/s", "changes/s", "located/s", "written/s");
    for (ClientRate each : clients) {
      table.row(
          name(each),
          number(each.lookups()),
          number(each.changes()),
          text.size(Math.round(each.locatedBytes())),
          text.size(Math.round(each.committedBytes())));
    }
    print(text, table, otherClients);
    printDatanodes(text);
    if (!paths.isEmpty()) {
      TextTable hottest = new TextTable("lookups/s", "-path");
      for (PathRate each : paths) {
        hottest.row(number(each.lookups()), end(each.path(), WIDTH - LOOKUPS_WIDTH));
      }
      text.line("");
      hottest.print(text);
    }
  }

  private void printDatanodes(ReportText text) {
    if (datanodes.isEmpty()) {
      return;
    }
    TextTable table = new TextTable("-datanode", "-tier", "read/s", "written/s");
    for (DatanodeRate each : datanodes) {
      table.row(
          end(each.address(), WIDTH - FIGURES_WIDTH),
          each.tier(),
          each.readBytes() < 0 ? "-" : text.size(each.readBytes()),
          each.writtenBytes() < 0 ? "-" : text.size(each.writtenBytes()));
    }
    text.line("");
    print(text, table, otherDatanodes);
  }

  private static void print(ReportText text, TextTable table, int others) {
    if (!table.isEmpty()) {
      table.print(text);
    }
    if (others > 0) {
      text.line("and %d more", others);
    }
  }

  /** A client as {@code user@host id}, or all clients of a user or a host. */
  private static String name(ClientRate rate) {
    boolean isOne = !rate.client().isEmpty();
    String user = rate.user().isEmpty() ? "-" : rate.user();
    String group = rate.host().isEmpty() ? user : rate.host();
    String who = isOne ? user + "@" + rate.host() : group;
    String which =
        isOne
            ? rate.client().substring(0, Math.min(4, rate.client().length()))
            : ReportText.count(rate.clients(), "client");
    int room = WIDTH - FIGURES_WIDTH - which.length() - 1;
    String shown = Printable.line(who);
    return (shown.length() > room ? shown.substring(0, room - 3) + "..." : shown) + " " + which;
  }

  /** The end of a text that is too long, which says more than its beginning. */
  private static String end(String text, int most) {
    String shown = Printable.line(text);
    return shown.length() <= most ? shown : "..." + shown.substring(shown.length() - most + 3);
  }

  private static String number(double value) {
    return value > 0 && value < 10
        ? String.format(Locale.ROOT, "%.1f", value)
        : String.format(Locale.ROOT, "%d", Math.round(value));
  }

  /**
   * The bytes that a datanode serves in a second, by its last signs of life.
   *
   * @param address where it serves
   * @param tier name of its tier
   * @param readBytes bytes that clients read; -1 if the datanode does not see them
   * @param writtenBytes bytes that clients write; -1 if the datanode does not see them
   */
  public record DatanodeRate(String address, String tier, long readBytes, long writtenBytes) {
    static DatanodeRate of(DatanodeReport datanode) {
      return new DatanodeRate(
          datanode.address(), datanode.tier(), datanode.readRate(), datanode.writeRate());
    }

    /** Bytes both ways. */
    public long bytes() {
      return readBytes + writtenBytes;
    }
  }

  /**
   * A path that is looked up often.
   *
   * @param path where the node is now
   * @param lookups lookups of the node in a second, at least, by a sample of the last few seconds
   */
  public record PathRate(String path, double lookups) {}
}
