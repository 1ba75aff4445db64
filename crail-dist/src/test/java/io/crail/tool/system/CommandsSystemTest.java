/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.report.JsonInput;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.Ran;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the commands print, accept and refuse. */
@Tag("once")
class CommandsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private static ProcessCluster cluster;
  private static boolean fileWritten;

  @BeforeAll
  static void start() throws Exception {
    cluster = ProcessCluster.start(2, 2, Map.of());
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static void assertSuccess(CrailProcess process) throws Exception {
    assertEquals(0, process.awaitExit(PATIENCE), () -> process.stdout() + process.stderr());
  }

  /** Nothing on stderr from the JVM or the log; a benchmark may say what it prepares. */
  private static void assertNoWarning(CrailProcess process) {
    for (String line : process.stderr().lines().toList()) {
      assertFalse(line.matches("(WARN|ERROR|OpenJDK|Exception|\\s+at ).*"), process.stderr());
    }
  }

  private static void assertOneLine(String text) {
    assertEquals(1, text.lines().count(), text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t write -s 65536 -k 64 -f /commands.dat",
        "-t write -s 65536 -k 64 -m false -f /commands.dat",
        "-t writeAsync -s 65536 -k 64 -b 4 -f /commands.dat",
        "-t createFile -k 50 -f /commands-created",
        "-t getMultiFileAsync -n 100 -k 1000 -b 16 -f /commands-multi",
        "-t createMultiFile -f /commands-bag",
        "-t EARLY -s 100 -k 20 -f /commands-early.dat",
        "-t writeInt -k 1000 -f /commands-ints"
      })
  void iobenchThatMakesItsOwnFiles(String arguments) throws Exception {
    assertMeasures("iobench " + arguments);
  }

  /** Writes what is read, once. */
  private static void ensureFile() throws Exception {
    if (!fileWritten) {
      assertMeasures("iobench -t write -s 65536 -k 32 -f /commands-read.dat");
      fileWritten = true;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t readSequential -s 65536 -k 64 -f /commands-read.dat",
        "-t readSequential -s 65536 -k 64 -m false -f /commands-read.dat",
        "-t readSequentialAsync -s 65536 -k 64 -b 4 -f /commands-read.dat",
        "-t readRandom -s 4096 -k 64 -f /commands-read.dat",
        "-t getKey -s 1024 -k 50 -f /commands-read.dat",
        "-t getFile -k 100 -f /commands-read.dat",
        "-t getFileAsync -k 1000 -b 16 -f /commands-read.dat"
      })
  void iobenchThatReads(String arguments) throws Exception {
    ensureFile();
    assertMeasures("iobench " + arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t writeSequentialHeap -s 65536 -k 64 -f /commands-hadoop.dat",
        "keyGet 1024 50 /commands-read.dat",
        "-t readSequentialDirect -s 1024 -k 50 -f /commands-read.dat --set fs.x=y",
        "-t browseDir -n 10 -k 50 -f /commands-browsed",
        "-t writeSequentialHeap -s 100 -k 10 -f file:DIRECTORY/local.dat"
      })
  void hdfsbench(String arguments) throws Exception {
    ensureFile();
    assertMeasures("hdfsbench " + arguments.replace("DIRECTORY", cluster.directory().toString()));
  }

  private static void assertMeasures(String line) {
    Ran bench = ran(line.split(" "));
    assertEquals(0, bench.code(), () -> bench.stdout() + bench.stderr());
    assertMeasured(bench.stdout());
  }

  private static void assertMeasured(String stdout) {
    assertTrue(stdout.contains("execution time"), stdout);
    assertTrue(stdout.contains("latency"), stdout);
  }

  /** Runs a command within this process, where a process of its own shows nothing more. */
  private static Ran ran(String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "iobench -t write -s 65536 -k 64 -f /commands-alone.dat",
        "hdfsbench -t writeSequentialHeap -s 65536 -k 64 -f /commands-alone-hadoop.dat"
      })
  void aBenchmarkLogsNothing(String line) throws Exception {
    CrailProcess bench = cluster.run(line.split(" "));
    assertSuccess(bench);
    assertMeasured(bench.stdout());
    assertNoWarning(bench);
  }

  @Test
  void iobenchWithoutAClusterStartsOneAndSaysSo(@TempDir Path empty) throws Exception {
    CrailProcess bench =
        CrailProcess.crail(
            empty, "iobench", "-t", "write", "-s", "65536", "-k", "64", "-f", "/tmp.dat");
    assertSuccess(bench);
    assertNoWarning(bench);
    assertTrue(bench.stderr().contains("crail.namenode.address"), bench.stderr());
    assertTrue(bench.stderr().contains("starting a cluster in this process"), bench.stderr());
  }

  @Test
  void embeddedClusterIsUsedWhenAskedFor(@TempDir Path empty) throws Exception {
    CrailProcess df = CrailProcess.crail(empty, "df", "--embedded");
    assertSuccess(df);
    assertTrue(df.stdout().contains("1 of 1 datanodes online"), df.stdout());
    assertEquals("", df.stderr());
  }

  @Test
  void aServerTakesNoEmbeddedCluster(@TempDir Path empty) throws Exception {
    CrailProcess namenode = CrailProcess.crail(empty, "namenode", "--embedded", "-p", "0");
    assertEquals(2, namenode.awaitExit(PATIENCE));
    assertTrue(namenode.stderr().contains("--embedded"), namenode.stderr());
    assertFalse(ran("datanode", "--help").stdout().contains("--embedded"));
    assertTrue(ran("df", "--help").stdout().contains("--embedded"));
  }

  /** A server asks the native library for devices, so it has found it with all of its own jars. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "namenode -p 0 --set crail.namenode.rpctype=darpc",
        "datanode -t rdma --set crail.storage.types=rdma"
      })
  void aServerSaysThatThereIsNoRdmaDevice(String arguments, @TempDir Path empty) throws Exception {
    Path home = Path.of(System.getProperty("crail.home", "/nonexistent"));
    Assumptions.assumeTrue(
        Files.exists(home.resolve("lib/native/libdisni.so")), "no native library");
    String[] devices = new File("/sys/class/infiniband").list();
    Assumptions.assumeTrue(devices == null || devices.length == 0, "this host has RDMA devices");
    CrailProcess server = CrailProcess.crail(empty, arguments.split(" "));
    assertNotEquals(0, server.awaitExit(PATIENCE));
    assertTrue(server.stderr().contains("there is no RDMA device ("), server.stderr());
  }

  @Test
  void pingNamesEveryNamenode() throws Exception {
    CrailProcess ping = cluster.run("ping");
    assertSuccess(ping);
    assertEquals(2, ping.stdout().lines().filter(line -> line.contains(" answers in ")).count());
  }

  @Test
  void pingFailsWithoutAServer() throws Exception {
    CrailProcess ping = cluster.run("ping", "--set", "crail.namenode.address=crail://127.0.0.1:1");
    assertEquals(1, ping.awaitExit(PATIENCE));
    assertOneLine(ping.stderr());
    assertEquals(
        "namenode 0 at 127.0.0.1:1 does not answer: not reachable: 127.0.0.1:1:"
            + " connection refused\n",
        ping.stderr());
    for (String io : List.of("epoll", "nio")) {
      Ran named =
          ran("ping", "-Dcrail.tcp.io=" + io, "-Dcrail.namenode.address=crail://localhost:1");
      assertOneLine(named.stderr());
      assertTrue(
          named.stderr().matches(".* localhost:1: connection refused \\([0-9.:]+\\)\n"),
          named.stderr());
    }
  }

  @Test
  void aDatanodeThatIsRefusedEndsWithTheReason() throws Exception {
    CrailProcess refused =
        cluster.run("datanode", "-c", "9", "--set", "crail.storage.classes=10", "--", "-p", "0");
    assertEquals(1, refused.awaitExit(PATIENCE));
    assertTrue(refused.stderr().contains("storage class 9, there are 8"), refused.stderr());
    assertTrue(refused.stderr().contains("127.0.0.1:"), refused.stderr());
    assertEquals("", refused.stdout());
  }

  @Test
  void datanodesAndSpaceAreShown() throws Exception {
    Ran datanodes = ran("datanodes");
    assertEquals(0, datanodes.code(), datanodes.stderr());
    for (int i = 0; i < 2; i++) {
      String address = "127.0.0.1:" + cluster.datanodeAddress(i).getPort();
      assertTrue(datanodes.stdout().contains(address), datanodes.stdout());
    }
    assertTrue(ran("df").stdout().contains("2 of 2 datanodes online"));
    assertTrue(ran("dump").stdout().contains("# namenode 1 at "));
  }

  /** What an application of Spark has, made by hand. */
  private static String makeApplication(CrailStore store, String name) throws Exception {
    String id = name + "-20261126-102030-0011223344556677";
    String root = "/spark-" + id + ".0";
    for (String directory : List.of(root, root + "/shuffle-3", root + "/broadcast")) {
      create(store, directory, CrailNodeType.DIRECTORY);
    }
    try (var out =
        create(store, root + "/shuffle-3/1", CrailNodeType.DATAFILE)
            .asFile()
            .getBufferedOutputStream(0)) {
      out.write(new byte[3 << 10]);
    }
    store.setAttributes(root, CrailAttributeChanges.ofTimes(null, 1000L)).get();
    return id;
  }

  private static CrailNode create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
  }

  @Test
  void applicationsOfSparkAreShown() throws Exception {
    Configuration configuration =
        Configuration.builder()
            .load(cluster.directory().resolve("crail-site.conf"), name -> null)
            .build();
    try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
      String first = makeApplication(store, "first");
      String second = makeApplication(store, "second");
      Ran shown = ran("applications");
      assertEquals(0, shown.code(), shown.stderr());
      assertEquals(
          List.of(
              "application since files shuffle broadcast renewed",
              first + " 2026-11-26T10:20:30Z 1 3 KiB 0 B 1970-01-01T00:00:01Z",
              second + " 2026-11-26T10:20:30Z 1 3 KiB 0 B 1970-01-01T00:00:01Z"),
          shown.stdout().lines().map(line -> line.replaceAll(" +", " ")).toList());
      assertEquals(
          "and 1 more",
          ran("applications", "--top", "1").stdout().lines().skip(2).findFirst().orElse(""));
      Ran plain = ran("applications", "--bytes");
      assertTrue(plain.stdout().contains(" 3072 "), plain.stdout());

      assertSuccess(cluster.run("fs", "-rm", "-r", "/spark-" + first + ".*"));
      String left = ran("applications").stdout();
      assertFalse(left.contains(first), left);
      assertTrue(left.contains(second), left);
      store.delete("/spark-" + second + ".0", true).get();
    }
  }

  @Test
  void topShowsWhoDoesWhat() throws Exception {
    CrailConfiguration configuration = CrailConfiguration.of(cluster.configuration());
    AtomicBoolean ends = new AtomicBoolean();
    FutureTask<Void> load =
        new FutureTask<>(
            () -> {
              try (CrailStore store = CrailStore.newInstance(configuration)) {
                CrailNode node =
                    store
                        .create(
                            "/commands-hot",
                            CrailNodeType.DATAFILE,
                            CrailStorageClass.DEFAULT,
                            CrailLocationClass.DEFAULT,
                            true)
                        .get();
                try (CrailBufferedOutputStream out = node.asFile().getBufferedOutputStream(0)) {
                  while (!ends.get()) {
                    out.write(new byte[64]);
                    out.sync();
                    for (int i = 0; i < 20; i++) {
                      store.lookup("/commands-hot").get();
                    }
                  }
                }
              }
              return null;
            });
    Thread loading = new Thread(load, "load");
    loading.setDaemon(true);
    loading.start();
    try {
      Await.until(
          "the client and the path are hot",
          PATIENCE,
          () -> {
            Map<?, ?> top = (Map<?, ?>) JsonInput.parse(ran("top", "--json").stdout());
            List<?> clients = (List<?>) top.get("clients");
            List<?> paths = (List<?>) top.get("paths");
            return !clients.isEmpty()
                && (double) ((Map<?, ?>) clients.get(0)).get("committedBytes") > 0
                && (double) ((Map<?, ?>) clients.get(0)).get("locatedBytes") > 0
                && !paths.isEmpty()
                && "/commands-hot".equals(((Map<?, ?>) paths.get(0)).get("path"));
          });
      Ran shown = ran("top", "--by", "user", "-n", "3");
      assertEquals(0, shown.code(), shown::toString);
      assertTrue(shown.stdout().contains("  /commands-hot\n"), shown::toString);
      assertTrue(shown.stdout().contains(System.getProperty("user.name")), shown::toString);
      for (int i = 0; i < 2; i++) {
        String address = "127.0.0.1:" + cluster.datanodeAddress(i).getPort();
        assertTrue(shown.stdout().contains(address), shown::toString);
      }
      shown.stdout().lines().forEach(line -> assertTrue(line.length() <= 80, line));
      assertEquals(2, ran("top", "--by", "weather").code());
    } finally {
      ends.set(true);
      load.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void getconfPrintsWhatIsSetAndWhatIsDefault() throws Exception {
    assertTrue(ran("getconf", "crail.namenode.address").stdout().startsWith("crail://127.0.0.1:"));
    assertEquals("7s\n", ran("getconf", "crail.rpctimeout", "-Dcrail.rpctimeout=7s").stdout());
    assertTrue(ran("getconf", "--all").stdout().contains("crail.blocksize "));
    assertEquals(2, ran("getconf", "crail.nothing").code());
  }

  @Test
  void removedDatanodeEndsByItself() throws Exception {
    try (ProcessCluster own =
        ProcessCluster.start(2, 2, Map.of("crail.storage.keepalive", "100ms"))) {
      InetSocketAddress address = own.datanodeAddress(0);
      String port = String.valueOf(address.getPort());
      CrailProcess wrong = own.run("removeDatanode", "-i", "127.0.0.1", "-p", "1");
      assertEquals(1, wrong.awaitExit(PATIENCE));
      assertOneLine(wrong.stderr());
      assertSuccess(own.run("removeDatanode", "-i", "127.0.0.1", "-p", port));
      assertEquals(0, own.datanode(0).awaitExit(PATIENCE));
      assertTrue(own.datanode(1).isAlive());
    }
  }

  @Test
  void serversCleanUpOnSigterm() throws Exception {
    ProcessCluster own = ProcessCluster.start(1, 1, Map.of());
    try {
      assertFalse(own.leftovers().isEmpty(), "a datanode keeps its regions in files");
      own.datanode(0).terminate();
      assertEquals(143, own.datanode(0).awaitExit(PATIENCE));
      assertEquals(List.of(), own.leftovers());
      own.namenode(0).terminate();
      assertEquals(143, own.namenode(0).awaitExit(PATIENCE));
    } finally {
      own.close();
    }
  }

  @Test
  void embeddedClusterCleansUpWhenTheCommandIsEnded(@TempDir Path directory) throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    CrailProcess bench =
        CrailProcess.crail(
            directory,
            "iobench",
            "-t",
            "getFile",
            "-k",
            "100000000",
            "-f",
            "/x",
            "--embedded",
            "--set",
            "crail.storage.tcp.datapath=" + data,
            "--set",
            "crail.storage.tcp.storagelimit=16m");
    try {
      bench.await("starting benchmark", PATIENCE);
      assertEquals(1, data.toFile().list().length);
      bench.terminate();
      assertEquals(143, bench.awaitExit(PATIENCE));
      assertEquals(0, data.toFile().list().length);
    } finally {
      bench.close();
    }
  }

  @Test
  void nextDatanodeRemovesWhatAKilledOneLeft() throws Exception {
    try (ProcessCluster own = ProcessCluster.start(1, 1, Map.of())) {
      List<String> killed = own.leftovers();
      own.datanode(0).kill();
      assertEquals(killed, own.leftovers());
      own.startDatanode("16m", -1);
      List<String> now = own.leftovers();
      assertTrue(Collections.disjoint(killed, now), now.toString());
    }
  }

  @Test
  void fsckNamesTheFilesOfADatanodeThatDied() throws Exception {
    Map<String, String> settings = Map.of("crail.storage.keepalive", "1s");
    try (ProcessCluster own = ProcessCluster.start(2, 1, settings)) {
      assertSuccess(
          own.run(
              "iobench", "-t", "write", "-s", "65536", "-k", "16", "-w", "0", "-f", "/kept.dat"));
      CrailProcess well = own.run("fsck");
      assertSuccess(well);
      assertTrue(well.stdout().contains("lost: 0 files (0 B); silent: 0 files"), well.stdout());
      assertTrue(well.stdout().endsWith("accounts are right\n"), well.stdout());
      own.datanode(0).kill();
      own.startDatanodeAgain(0);
      String kept = "lost     /kept.dat: 1 MiB of 1 MiB, ";
      Await.until(
          "the dead datanode is replaced",
          PATIENCE,
          () -> Ran.run(own.directory(), "fsck").stdout().contains(kept));
      Ran df = Ran.run(own.directory(), "df");
      assertTrue(
          df.stdout().contains("\n1 MiB of space lost with datanodes that are gone; "),
          df::toString);
      assertTrue(df.stdout().contains("1 of 1 datanodes online"), df::toString);
      Ran datanodes = Ran.run(own.directory(), "datanodes");
      assertTrue(datanodes.stdout().contains("  lost with 1 MiB  "), datanodes::toString);
      assertEquals(1, Ran.run(own.directory(), "status").code());
      CrailProcess paths = own.run("fsck", "--paths");
      assertEquals("/kept.dat\n", paths.stdout());
      assertEquals(1, paths.awaitExit(PATIENCE));
      CrailProcess plan = own.run("fsck", "--repair");
      assertEquals(1, plan.awaitExit(PATIENCE), plan::stderr);
      assertTrue(
          plan.stdout()
              .endsWith(
                  """
                  repair   would remove 1 file, named above as lost
                  nothing was changed; --repair --yes removes them
                  """),
          plan.stdout());
      CrailProcess repair = own.run("fsck", "--repair", "--yes");
      assertSuccess(repair);
      assertTrue(
          repair.stdout().endsWith("removed  /kept.dat\n1 file removed, 0 left\n"),
          repair.stdout());
      assertSuccess(own.run("fsck"));
    }
  }

  /** The files change while the question stands on the terminal. */
  @Test
  void fsckRemovesNoFileThatHasChanged(@TempDir Path local) throws Exception {
    Map<String, String> settings = Map.of("crail.storage.keepalive", "1s");
    Path file = Files.write(local.resolve("file"), new byte[100_000]);
    InputStream answers = System.in;
    List<String> flags = List.of("crail.terminal", "crail.terminal.in");
    try (ProcessCluster own = ProcessCluster.start(1, 1, settings)) {
      for (String path : List.of("/lost", "/replaced", "/removed", "/renamed")) {
        assertEquals(0, Ran.run(own.directory(), "put", file.toString(), path).code());
      }
      own.datanode(0).kill();
      own.startDatanodeAgain(0);
      Await.until(
          "the dead datanode is replaced",
          PATIENCE,
          () -> Ran.run(own.directory(), "fsck").stdout().contains("lost: 4 files"));
      flags.forEach(flag -> System.setProperty(flag, "true"));
      System.setIn(
          new LateAnswer(
              "y\n",
              () -> {
                assertSuccess(own.run("put", "-f", file.toString(), "/replaced"));
                assertSuccess(own.run("rm", "/removed"));
                assertSuccess(own.run("mv", "/renamed", "/other"));
                return null;
              }));
      Ran ran = Ran.run(own.directory(), "fsck", "--repair");
      assertEquals(1, ran.code(), ran::toString);
      assertEquals("Remove them? [y/N] ", ran.stderr());
      assertEquals(
          List.of(
              "left     /removed: is not there any more",
              "left     /renamed: is not there any more",
              "left     /replaced: is another file since",
              "removed  /lost"),
          ran.stdout().lines().filter(line -> line.matches("(left|removed) .*")).sorted().toList());
      assertTrue(ran.stdout().endsWith("\n1 file removed, 3 left\n"), ran.stdout());
      assertEquals(
          List.of("/other", "/replaced"), own.run("ls", "/").stdout().lines().sorted().toList());
    } finally {
      System.setIn(answers);
      flags.forEach(System::clearProperty);
    }
  }

  /** An answer that is given after something else has happened. */
  private static final class LateAnswer extends InputStream {
    private final InputStream answer;
    private Callable<?> first;

    LateAnswer(String answer, Callable<?> first) {
      this.answer = new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8));
      this.first = first;
    }

    @Override
    public int read() throws IOException {
      if (first != null) {
        Callable<?> now = first;
        first = null;
        try {
          now.call();
        } catch (Exception e) {
          throw new IOException(e);
        }
      }
      return answer.read();
    }
  }

  @Test
  void worksOverIpv6() throws Exception {
    Assumptions.assumeTrue(hasIpv6Loopback(), "this machine has no IPv6");
    try (ProcessCluster own = ProcessCluster.start("::1", 2, 1, Map.of())) {
      assertTrue(own.namenodeAddress(0).getAddress() instanceof Inet6Address);
      assertTrue(own.datanodeAddress(0).getAddress() instanceof Inet6Address);
      for (String mapped : List.of("true", "false")) {
        CrailProcess bench =
            own.run(
                "iobench",
                "-t",
                "write",
                "-s",
                "65536",
                "-k",
                "64",
                "-f",
                "/six.dat",
                "--set",
                "crail.storage.localmap=" + mapped);
        assertSuccess(bench);
      }
      String port = String.valueOf(own.datanodeAddress(0).getPort());
      List<List<String>> spellings =
          List.of(List.of("-i", "::1", "-p", port), List.of("-i", "[::1]", "-p", port));
      for (List<String> spelling : spellings) {
        Ran removed = removed(own, spelling);
        assertEquals(0, removed.code(), removed::toString);
      }
      String shown = Ran.run(own.directory(), "datanodes").stdout();
      String address = shown.replaceAll("(?s).*\n(\\[\\S+\\]:\\d+)  draining.*", "$1");
      assertEquals(0, removed(own, List.of(address)).code(), shown);
    }
  }

  private static Ran removed(ProcessCluster own, List<String> arguments) {
    List<String> line = new ArrayList<>(List.of("removeDatanode"));
    line.addAll(arguments);
    return Ran.run(own.directory(), line.toArray(String[]::new));
  }

  private static boolean hasIpv6Loopback() throws Exception {
    for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress address : Collections.list(network.getInetAddresses())) {
        if (address instanceof Inet6Address && address.isLoopbackAddress()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Command line, and what the one line on stderr has to name; LauncherTest has many more. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense | nonsense",
        "datanode -- -s lots | lots",
        "iobench -t getFile -f /a/../b | '..'",
        "hdfsbench -t write | writeSequentialHeap"
      })
  void badCommandLineIsNamedInOneLine(String arguments, String named) throws Exception {
    Ran refused = ran(arguments.split(" "));
    assertEquals(2, refused.code(), refused.stdout() + refused.stderr());
    String complaint = refused.stderr().lines().findFirst().orElse("");
    assertTrue(complaint.contains(named), refused.stderr());
    assertFalse(refused.stderr().contains("\tat "), "no stack trace");
    assertEquals("", refused.stdout());
  }

  @Test
  void portInUseIsNamed() throws Exception {
    String port = String.valueOf(cluster.namenodeAddress(0).getPort());
    CrailProcess refused = cluster.run("namenode", "-i", "0", "-p", port);
    assertEquals(1, refused.awaitExit(PATIENCE));
    assertTrue(refused.stderr().contains(port), refused.stderr());
    assertFalse(refused.stderr().contains("\tat "), "no stack trace");
  }

  @Test
  void aCommandExplainsItself() throws Exception {
    CrailProcess help = cluster.run("ping", "--help");
    assertSuccess(help);
    assertTrue(help.stdout().contains("crail ping"), help.stdout());
    assertEquals("", help.stderr());
  }
}
