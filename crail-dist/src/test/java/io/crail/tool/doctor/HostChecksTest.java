/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.protocol.part.DatanodeState;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageTier;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.DatanodeReport;
import io.crail.tool.report.Finding;
import io.crail.tool.report.Finding.Grade;
import io.crail.tool.report.NamenodeReport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what the doctor says of hosts that the test makes up. */
class HostChecksTest {
  @TempDir private Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private void writeHost(int openFiles, int mappings, String hugePages) throws IOException {
    write(
        "proc/self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units     \n\
        Max cpu time              unlimited            unlimited            seconds   \n\
        Max open files            1024                 %d                files     \n\
        Max locked memory         8388608              8388608              bytes     \n\
        Max nice priority         0                    0                    \n\
        """
            .formatted(openFiles));
    write("proc/sys/vm/max_map_count", mappings + "\n");
    write("sys/kernel/mm/transparent_hugepage/enabled", hugePages + "\n");
    write("proc/meminfo", "MemTotal:       24683112 kB\nHugePages_Free:        3\n");
  }

  private List<Finding> examine(boolean lends, String... settings) {
    Configuration.Builder builder = Configuration.builder();
    for (int i = 0; i < settings.length; i += 2) {
      builder.set(settings[i], settings[i + 1], "the test");
    }
    Configuration configuration = builder.build();
    return new HostChecks(
            new HostFiles(root),
            configuration,
            lends ? List.of(StorageTier.find("tcp").plan(configuration, List.of())) : List.of())
        .run();
  }

  private static List<String> not(Grade grade, List<Finding> findings) {
    return findings.stream().filter(each -> each.grade() != grade).map(Finding::text).toList();
  }

  private static void assertOne(Grade grade, String part, List<Finding> findings) {
    List<Finding> fit = findings.stream().filter(each -> each.text().contains(part)).toList();
    assertEquals(1, fit.size(), findings::toString);
    assertEquals(grade, fit.get(0).grade(), fit::toString);
    assertTrue(grade == Grade.OK || !fit.get(0).cure().isEmpty(), fit::toString);
  }

  @Test
  void aGoodHostIsWell() throws IOException {
    writeHost(1_048_576, 65_530, "always [madvise] never");
    List<Finding> findings =
        examine(
            true, "crail.storage.tcp.datapath", "" + root, "crail.storage.tcp.storagelimit", "1m");
    assertEquals(List.of(), not(Grade.OK, findings));
    assertOne(Grade.OK, "23.5 GiB of memory", findings);
  }

  @Test
  void theKernelsOwnFilesAreReadWhole() {
    HostFiles files = new HostFiles(Path.of("/"));
    // No JVM runs with fewer.
    assertTrue(files.number("proc/sys/vm/max_map_count", 0) > 100);
    assertTrue(files.memory("MemTotal", 0) > 100 << 20);
  }

  @Test
  void lowLimitsAreNamed() throws IOException {
    writeHost(4096, 1000, "always madvise [never]");
    List<Finding> findings = examine(false);
    assertOne(Grade.WARNING, "4096 open files", findings);
    assertOne(Grade.WARNING, "1000 memory mappings", findings);
    assertOne(Grade.WARNING, "transparent huge pages are off", findings);
    assertEquals(3, not(Grade.OK, findings).size());
  }

  @Test
  void aLookAtAPortKeepsItFromNoServer() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Socket look = HostChecks.claim(any);
        ServerSocket server = new ServerSocket()) {
      InetSocketAddress port = new InetSocketAddress(any.getAddress(), look.getLocalPort());
      server.bind(port);
      assertThrows(IOException.class, () -> HostChecks.claim(port), "a server has it");
    }
  }

  @Test
  void aHostWithoutTheFilesGetsNoWarnings() {
    assertEquals(List.of(), not(Grade.OK, examine(false)));
  }

  @Test
  void aDataPathHasToHoldWhatIsLent() throws IOException {
    writeHost(1_048_576, 65_530, "[always] madvise never");
    String small = "" + root.resolve("not/yet/there");
    List<Finding> findings =
        examine(
            true, "crail.storage.tcp.datapath", small, "crail.storage.tcp.storagelimit", "1000t");
    assertOne(Grade.BROKEN, "a datanode lends 1000 TiB", findings);
    // A host without a datanode needs no space.
    assertEquals(
        List.of(), not(Grade.OK, examine(false, "crail.storage.tcp.storagelimit", "1000t")));
  }

  @Test
  void theArgumentsOfEachDatanodeCount() throws Exception {
    Configuration configuration =
        Configuration.builder().set("crail.storage.tcp.storagelimit", "1m", "the test").build();
    String place = root + "/data";
    List<PlannedDatanode> datanodes = new ArrayList<>();
    for (String line :
        List.of(
            "-- -d " + place,
            "-t tcp -c 1 -- -p 0 -s 1000t -d " + root + "/other",
            "--set crail.storage.tcp.memory=anonymous -- -s 1000t",
            "-t rdma -- -s 2m -d " + place + "/rdma")) {
      datanodes.add(
          new ListedDatanode("localhost", List.of(line.split(" "))).datanode(configuration));
    }
    List<Finding> findings = new HostChecks(new HostFiles(root), configuration, datanodes).run();
    assertOne(Grade.BROKEN, "the data path " + place + " has", findings);
    // They have one file system.
    assertOne(Grade.BROKEN, "; 3 datanodes lend 1000.0 TiB", findings);
    ListedDatanode wrong = new ListedDatanode("localhost", List.of("-s", "1g"));
    assertThrows(UsageException.class, () -> wrong.datanode(configuration));
    assertEquals("localhost -s 1g", wrong.toString());
  }

  private static List<Finding> ports(int port, boolean known) {
    Configuration configuration =
        Configuration.builder()
            .set("crail.namenode.address", "crail://127.0.0.1:" + port, "the test")
            .set("crail.storage.tcp.port", "" + port, "the test")
            .set("crail.metrics.address", "127.0.0.1:" + port, "the test")
            .build();
    NamenodeReport namenode =
        new NamenodeReport(
            0,
            "127.0.0.1",
            known,
            0,
            "",
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
    DatanodeReport datanode =
        new DatanodeReport(
            new UUID(1, 1),
            "tcp",
            0,
            "127.0.0.1",
            port,
            DatanodeState.ONLINE,
            false,
            false,
            0,
            0,
            0,
            0,
            0,
            0,
            -1,
            -1,
            List.of(0),
            List.of());
    List<DatanodeReport> datanodes = known ? List.of(datanode) : List.of();
    ClusterReport cluster =
        new ClusterReport("", Instant.EPOCH, List.of(namenode), datanodes, List.of(), 0, 0, 0);
    List<PlannedDatanode> here = List.of(StorageTier.find("tcp").plan(configuration, List.of()));
    return new HostChecks(new HostFiles(Path.of("/")), configuration, here).ports(cluster);
  }

  @Test
  void portsOfOtherProgramsAreNamed() throws IOException {
    int port;
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = other.getLocalPort();
      List<Finding> findings = ports(port, false);
      assertEquals(3, findings.size(), findings::toString);
      for (Finding each : findings) {
        assertTrue(each.text().contains(" could not listen on 127.0.0.1:" + port), each::toString);
      }
      for (String key :
          List.of("crail.namenode.address", "crail.storage.tcp.port", "crail.metrics.address")) {
        assertEquals(1, findings.stream().filter(each -> each.cure().contains(key)).count(), key);
      }
      // The cluster's own servers have them.
      assertEquals(List.of(), ports(port, true));
    }
    assertEquals(List.of(), ports(port, false));
  }

  @Test
  void rdmaIsAskedForOnlyWhereItIsUsed() throws IOException {
    writeHost(1_048_576, 65_530, "[always] madvise never");
    List<Finding> without = examine(false);
    assertTrue(without.stream().noneMatch(each -> each.text().contains("RDMA")));
    List<Finding> with = examine(false, "crail.storage.types", "rdma");
    assertEquals(
        1, with.stream().filter(each -> each.text().startsWith("RDMA")).count(), with::toString);
  }

  @Test
  void theDiskOfALogIsExamined() throws IOException {
    String path = "" + root.resolve("not/yet/there");
    List<Finding> findings =
        examine(false, "crail.namenode.durability", "sync", "crail.namenode.datapath", path);
    assertOne(Grade.OK, "the next files take 128 MiB", findings);
    assertEquals(
        1, findings.stream().filter(each -> each.text().contains("a forced write of")).count());
    try (Stream<Path> files = Files.list(root)) {
      assertEquals(List.of(), files.toList(), "what the doctor leaves");
    }
    assertOne(
        Grade.BROKEN,
        "crail.namenode.datapath is not set",
        examine(false, "crail.namenode.durability", "sync"));
    assertOne(
        Grade.WARNING, "nothing is kept", examine(false, "crail.namenode.datapath", "" + root));
    write("file", "in its way");
    String file = "" + root.resolve("file");
    assertOne(
        Grade.BROKEN,
        "cannot write to " + file,
        examine(false, "crail.namenode.durability", "sync", "crail.namenode.datapath", file));
    // Another host has the namenode.
    assertEquals(
        List.of(),
        not(
            Grade.OK,
            examine(
                false,
                "crail.namenode.durability",
                "sync",
                "crail.namenode.address",
                "crail://192.0.2.1:9060")));
  }

  @Test
  void aPlaceThatKeepsNoLogIsNamed() {
    for (String type : List.of("ext4", "xfs", "btrfs", "zfs")) {
      assertEquals("", LogPlaceChecks.problemOf(type));
    }
    assertTrue(LogPlaceChecks.problemOf("tmpfs").contains("in memory"));
    assertTrue(LogPlaceChecks.problemOf("nfs4").contains("network"));
    assertTrue(LogPlaceChecks.problemOf("fuse.sshfs").contains("network"));
    assertTrue(LogPlaceChecks.problemOf("overlay").contains("container"));
    Finding slow = LogPlaceChecks.speed(root, 12_345);
    assertEquals(Grade.WARNING, slow.grade());
    assertTrue(slow.text().contains(" takes 12.3 ms"), slow.text());
    assertEquals(Grade.OK, LogPlaceChecks.speed(root, 200).grade());
  }
}
