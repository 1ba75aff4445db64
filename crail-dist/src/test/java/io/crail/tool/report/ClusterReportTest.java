/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import io.crail.spark.application.Applications;
import io.crail.tool.command.Colours;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What several namenodes say about a cluster, put together and printed. */
class ClusterReportTest {
  private static ReportDatanodes.Datanode datanode(int id, DatanodeState state, long used) {
    return new ReportDatanodes.Datanode(
        id,
        7,
        7,
        50020,
        0,
        state,
        state == DatanodeState.DRAINING,
        false,
        id * 1000L,
        100,
        0,
        used,
        5,
        id * 100,
        id,
        Utf8.of("tcp"),
        Utf8.of("::1"));
  }

  private static DatanodeReport merged(DatanodeState... states) {
    DatanodeReport all = null;
    for (int i = 0; i < states.length; i++) {
      DatanodeReport one = DatanodeReport.of(i, datanode(i + 1, states[i], 10));
      all = all == null ? one : all.plus(one);
    }
    return all;
  }

  private static String text(CommandReport report) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    report.print(new ReportText(out, Colours.of(false, null), ByteText::of));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /** A datanode is as well as the namenode says that is worst off, and lost only if for all. */
  @ParameterizedTest
  @CsvSource({
    "ONLINE, ONLINE, ONLINE, 0",
    "ONLINE, DRAINING, DRAINING, 0",
    "IMPAIRED, DRAINING, IMPAIRED, 0",
    "IMPAIRED, OFFLINE, OFFLINE, 0",
    "OFFLINE, ONLINE, OFFLINE, 0",
    "LOST, ONLINE, ONLINE, 10",
    "DRAINING, LOST, DRAINING, 10",
    "LOST, LOST, LOST, 20"
  })
  void theWorstStateCounts(
      DatanodeState first, DatanodeState second, DatanodeState both, long lostBytes) {
    DatanodeReport report = merged(first, second);
    assertEquals(both, report.state());
    assertEquals(lostBytes, report.lostBytes());
    assertEquals(20 - lostBytes, report.usedBytes());
    assertEquals(2000, report.silentMillis());
  }

  @Test
  void aDatanodeKnowsWhoHasNotHeardOfIt() {
    DatanodeReport report = merged(DatanodeState.ONLINE, DatanodeState.OFFLINE, DatanodeState.LOST);
    assertEquals(List.of(0, 1), report.namenodes());
    assertEquals(List.of(1), report.silentAt());
    assertEquals(200, report.lentBytes());
    // Each namenode hears of all bytes that it moves.
    assertEquals(List.of(300L, 3L), List.of(report.readRate(), report.writeRate()));
  }

  @Test
  void describesEachStateInAFewWords() {
    for (List<String> each :
        List.of(
            List.of("ONLINE", "online"),
            List.of("DRAINING", "draining, 15 B left"),
            List.of("IMPAIRED", "impaired"),
            List.of("OFFLINE", "offline for 1 s"),
            List.of("LOST", "lost with 10 B"))) {
      DatanodesReport report =
          new DatanodesReport(
              List.of(merged(DatanodeState.valueOf(each.get(0)))), List.of(), List.of());
      String line = text(report).lines().toList().get(1);
      assertEquals(each.get(1), line.replaceAll("^\\[::1\\]:50020  | +tcp .*", ""), line);
    }
    DatanodeReport silentDrain = merged(DatanodeState.DRAINING, DatanodeState.OFFLINE);
    String line = text(new DatanodesReport(List.of(silentDrain), List.of(), List.of()));
    assertTrue(line.contains("  offline for 2 s, draining, 30 B left  "), line);
    DatanodeReport impairedDrain = merged(DatanodeState.DRAINING, DatanodeState.IMPAIRED);
    line = text(new DatanodesReport(List.of(impairedDrain), List.of(), List.of()));
    assertTrue(line.contains("  impaired, draining, 30 B left  "), line);
  }

  private static SpaceReport space(ClassUsage... classes) {
    return new SpaceReport(List.of(classes), 1, 0, classes.length, classes.length, 0, List.of());
  }

  @Test
  void lostBytesAreNoneOfTheUsedOnes() {
    ClassUsage usage = new ClassUsage(0, 4096, 1024, 2048, 1024, 512, 1024);
    assertEquals(
        """
        class  capacity   used   free  waiting  largest
            0     4 KiB  2 KiB  1 KiB    1 KiB    1 KiB
        1 node (files, directories, tables, key-values), 1 of 1 datanodes online
        512 B of space lost with datanodes that are gone; 'crail fsck' names the files
        """,
        text(space(usage)));
  }

  @Test
  void aClusterWithoutADatanodeSaysWhatToDo() {
    String text = text(space());
    assertEquals("there is no space: no datanode is registered", text.lines().findFirst().get());
    assertTrue(text.contains("'crail datanode'"));
  }

  @Test
  void theWholeReportNamesWhoIsMissing() {
    NamenodeReport well =
        new NamenodeReport(
            0,
            "a:9060",
            true,
            80,
            "",
            Optional.of(Instant.EPOCH),
            false,
            5,
            9,
            2_500_000_000L,
            0,
            0,
            12,
            3,
            0,
            0,
            700,
            1000,
            1,
            1,
            Optional.empty(),
            List.of());
    NamenodeReport down =
        new NamenodeReport(
            1,
            "b:9060",
            false,
            0,
            "timed out",
            Optional.empty(),
            false,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            Optional.empty(),
            List.of());
    ClusterReport cluster =
        new ClusterReport(
            "mine", Instant.EPOCH, List.of(well, down), List.of(), List.of(), 12, 3, 0);
    WholeReport report =
        WholeReport.of(
            cluster,
            new Applications.Report(
                List.of(),
                List.of(
                    new MissingNamenode(0, "a:9060", ErrorCode.TIMED_OUT.exception("slow")),
                    new MissingNamenode(1, "b:9060", ErrorCode.UNAVAILABLE.exception("later")))));
    assertEquals(3, report.exitCode());
    assertEquals(
        List.of(
            "crail: without the part of namenode 1 at b:9060 (timed out)",
            "crail: without the part of namenode 0 at a:9060 (timed out: slow)"),
        report.warnings());
    assertEquals(
        """
        cluster mine at 1970-01-01T00:00:00Z

        namenode  address  state               since                 nodes  leases  waited
        0         a:9060   answers in 80 us    1970-01-01T00:00:00Z     12       3   2.5 s
        1         b:9060   missing: timed out  -                         0       0   0.0 s

        there is no space: no datanode is registered
          start one with 'crail datanode', or name hosts in conf/datanodes: start-crail
        12 nodes (files, directories, tables, key-values), 0 of 0 datanodes online
        3 write leases
        """,
        text(report));
  }

  @Test
  void applicationsThatHoldMostComeFirst() {
    List<Applications.Application> found = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      found.add(
          new Applications.Application(
              "a-" + i,
              Optional.empty(),
              Instant.EPOCH,
              new Applications.Held(1, 100L * (i % 4)),
              new Applications.Held(1, i),
              List.of()));
    }
    Applications.Report report = new Applications.Report(found, List.of());
    ApplicationsReport all = ApplicationsReport.of(report);
    assertEquals(
        List.of("a-11", "a-7", "a-3", "a-10"),
        all.applications().stream().limit(4).map(ApplicationReport::id).toList());
    assertFalse(text(all).contains("more"));
    ApplicationsReport top = all.top(3);
    assertEquals(
        List.of("a-11", "a-7", "a-3"),
        top.applications().stream().map(ApplicationReport::id).toList());
    assertTrue(text(top).endsWith("\nand 9 more\n"), () -> text(top));
    ClusterReport nothing =
        new ClusterReport("mine", Instant.EPOCH, List.of(), List.of(), List.of(), 0, 0, 0);
    WholeReport whole = WholeReport.of(nothing, report);
    assertTrue(text(whole).endsWith("\nand 2 more\n"), () -> text(whole));
    assertEquals(12, whole.applications().size());
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:50020, true",
    "localhost:50020, true",
    "127.0.0.1:50021, false",
    "127.0.0.2:50020, false"
  })
  void anAddressMayBeSpeltInSeveralWays(String text, boolean found) {
    check(text, "127.0.0.1", found);
  }

  @Test
  void theNameOfAHostMayHaveAnUnderscore() {
    check("stack_datanode:50020", "stack_datanode", true);
  }

  @ParameterizedTest
  @CsvSource({"[::1]:50020", "::1:50020", "[0:0:0:0:0:0:0:1]:50020", "[0::01]:50020"})
  void anAddressOfIpv6HasManySpellings(String text) {
    check(text, "0:0:0:0:0:0:0:1", true);
    check(text, "::1", true);
  }

  private static void check(String text, String host, boolean found) {
    DatanodeReport report =
        DatanodeReport.of(
            0,
            new ReportDatanodes.Datanode(
                1,
                7,
                7,
                50020,
                0,
                DatanodeState.ONLINE,
                false,
                false,
                0,
                1,
                1,
                0,
                0,
                -1,
                -1,
                Utf8.of("tcp"),
                Utf8.of(host)));
    assertEquals(found, DatanodeAddress.parse(text).among(List.of(report)).isPresent(), text);
  }
}
