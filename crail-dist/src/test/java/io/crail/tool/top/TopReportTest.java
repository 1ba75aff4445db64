/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.part.DatanodeState;
import io.crail.tool.command.Colours;
import io.crail.tool.report.DatanodeReport;
import io.crail.tool.report.ReportText;
import io.crail.tool.top.TopReport.By;
import io.crail.tool.top.TopReport.Order;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What 'crail top' makes of counts, and how it fits on a terminal. */
class TopReportTest {
  private static final int WIDTH = 80;

  private static ReportActivity.Client client(long id, String user, String host, long factor) {
    return new ReportActivity.Client(
        id, 1, 10 * factor, factor, 0, 1000 * factor, 100 * factor, Utf8.of(user), Utf8.of(host));
  }

  private static ClientRate rate(long id, String user, String host, long factor) {
    return ClientRate.between(null, client(id, user, host, factor), 1);
  }

  private static DatanodeReport datanode(String host, long readRate, long writeRate) {
    return new DatanodeReport(
        new UUID(1, 1),
        "tcp",
        0,
        host,
        50020,
        DatanodeState.ONLINE,
        false,
        false,
        0,
        1,
        1,
        0,
        0,
        readRate,
        writeRate,
        0,
        List.of(0),
        List.of());
  }

  private static TopReport report(List<ClientRate> clients, By by, Order order, int most) {
    return TopReport.of(
        2,
        clients,
        List.of(datanode("a", -1, -1), datanode("b", 2048, 0)),
        List.of(
            new TopReport.PathRate("/" + "x".repeat(1000), 12),
            new TopReport.PathRate("/hot", 34_567)),
        List.of(),
        new TopReport.Manner(by, order, most));
  }

  private static List<String> lines(TopReport report) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    report.print(new ReportText(out, Colours.of(false, null), ByteText::of));
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void ratesAreDifferencesAndNeverNegative() {
    ClientRate rate = ClientRate.between(client(1, "u", "h", 5), client(1, "u", "h", 9), 2);
    assertEquals(20, rate.lookups());
    assertEquals(2, rate.changes());
    assertEquals(2000, rate.locatedBytes());
    assertEquals(200, rate.committedBytes());
    // It has closed one of its connections, and what that one counted is gone.
    ClientRate less = ClientRate.between(client(1, "u", "h", 9), client(1, "u", "h", 5), 2);
    assertEquals(0, less.operations());
    assertEquals(99, ClientRate.between(null, client(1, "u", "h", 9), 1).operations());
  }

  @Test
  void theMostActiveComeFirst() {
    List<ClientRate> clients =
        List.of(rate(1, "ann", "x", 1), rate(2, "bob", "x", 3), rate(3, "ann", "y", 4));
    TopReport two = report(clients, By.CLIENT, Order.OPERATIONS, 2);
    assertEquals(List.of("3", "2"), two.clients().stream().map(ClientRate::client).toList());
    assertEquals(1, two.otherClients());
    assertEquals(3, two.all().clients());
    assertEquals(88, two.all().operations());
    assertEquals("/hot", two.paths().get(0).path());
    assertEquals("b:50020", two.datanodes().get(0).address());
    List<ClientRate> users = report(clients, By.USER, Order.WRITTEN, 9).clients();
    assertEquals(List.of("ann", "bob"), users.stream().map(ClientRate::user).toList());
    assertEquals(2, users.get(0).clients());
    assertEquals(500, users.get(0).committedBytes());
    List<ClientRate> hosts = report(clients, By.HOST, Order.LOCATED, 9).clients();
    // Those that are equal keep their order.
    assertEquals(List.of("x", "y"), hosts.stream().map(ClientRate::host).toList());
  }

  @Test
  void itFitsOnATerminal() {
    List<ClientRate> clients = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      clients.add(rate(-1 - i, "user".repeat(20), "host".repeat(40), 12_345_678));
    }
    clients.add(rate(77, "", "ho\u001bst", 0));
    for (By by : By.values()) {
      for (String line : lines(report(clients, by, Order.OPERATIONS, 20))) {
        assertTrue(line.length() <= WIDTH, line);
        assertTrue(line.chars().allMatch(each -> each >= ' ' && each < 127), line);
      }
    }
    List<String> lines = lines(report(clients, By.CLIENT, Order.OPERATIONS, 1));
    assertTrue(lines.get(0).startsWith("13 clients, 1629629496 operations/s, "), lines.get(0));
    assertTrue(lines.contains("and 12 more"), lines::toString);
    assertTrue(lines.contains("b:50020   tcp    2 KiB        0 B"), lines::toString);
    assertTrue(lines.contains("    34567  /hot"), lines::toString);
  }

  @Test
  void aDatanodeThatDoesNotSeeItsBytesHasADash() {
    List<String> lines = lines(report(List.of(), By.CLIENT, Order.OPERATIONS, 9));
    assertTrue(
        lines.stream().anyMatch(line -> line.matches("a:50020 +tcp +- +-")), lines::toString);
  }
}
