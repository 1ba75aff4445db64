/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.Ran;
import io.crail.tool.command.ExitCode;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands on paths as processes: pipes, signals, a full store, a datanode that dies. What fails
 * leaves nothing that looks like a file.
 */
@Tag("once")
@Timeout(300)
class PathSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir private Path local;

  private static ProcessCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = ProcessCluster.start(2, 2, Map.of("crail.datatimeout", "5s"));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @AfterEach
  void removeAll() {
    ran("ls").stdout().lines().forEach(path -> assertEquals(0, ran("rm", "-r", path).code()));
  }

  private Ran ran(String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  /** Starts a command behind a line of bash, which has the command as "$@". */
  private CrailProcess through(String line, String... arguments) throws IOException {
    return CrailProcess.crail(List.of("bash", "-c", line, "bash"), cluster.directory(), arguments);
  }

  private Path file(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(local.resolve("file"), content);
  }

  private List<String> leftHere() throws IOException {
    try (Stream<Path> files = Files.list(local)) {
      return files.map(each -> each.getFileName().toString()).sorted().toList();
    }
  }

  private void assertNothingLeft() {
    Ran listing = ran("ls", "-R");
    assertEquals(0, listing.code(), listing::toString);
    assertEquals("", listing.stdout());
  }

  @Test
  void bytesGoThroughPipes() throws Exception {
    Path file = file(5_000_001);
    CrailProcess put = through("exec \"$@\" <" + file, "put", "-", "/piped");
    assertEquals(0, put.awaitExit(PATIENCE), put::stderr);
    assertEquals("", put.stdout() + put.stderr());
    Path back = local.resolve("back");
    CrailProcess cat = through("\"$@\" >" + back, "cat", "/piped");
    assertEquals(0, cat.awaitExit(PATIENCE), cat::stderr);
    assertArrayEquals(Files.readAllBytes(file), Files.readAllBytes(back));
    CrailProcess head = through("\"$@\" | head -c 1 >" + back, "get", "/piped", "-");
    assertEquals(0, head.awaitExit(PATIENCE), head::stderr);
    assertEquals(1, Files.size(back));
    assertEquals("", head.stderr());
  }

  @Test
  void closedOutputEndsACommand() throws Exception {
    assertEquals(0, ran("put", file(5_000_001).toString(), "/piped").code());
    for (String line : List.of("ls /", "fs -ls /", "iobench -t write -s 4096 -k 8 -w 0 -f /full")) {
      CrailProcess full = through("exec \"$@\" >/dev/full", line.split(" "));
      assertEquals(1, full.awaitExit(PATIENCE), line);
      assertEquals(
          "crail: the output cannot be written: No space left on device\n", full.stderr(), line);
    }
    for (String line : List.of("cat /piped", "fs -cat /piped")) {
      CrailProcess head = through("\"$@\" | head -c 1; exit ${PIPESTATUS[0]}", line.split(" "));
      assertEquals(1, head.awaitExit(PATIENCE), line);
      assertEquals("", head.stderr(), line);
    }
  }

  @Test
  void aFullStoreKeepsNothingOfWhatDidNotFit() throws Exception {
    Path file = local.resolve("large");
    try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
      large.setLength(300 << 20);
    }
    CrailProcess put = cluster.run("put", file.toString(), "/large");
    assertEquals(1, put.awaitExit(PATIENCE));
    assertEquals(1, put.stderr().lines().count(), put.stderr());
    assertTrue(put.stderr().startsWith("crail put: " + file + ": no space"), put.stderr());
    assertTrue(put.stderr().contains("/large (node "), put.stderr());
    assertFalse(put.stderr().contains(".crail-put-"), put.stderr());
    assertTrue(put.stderr().endsWith("'crail df' shows what is free\n"), put.stderr());
    assertNothingLeft();
    assertEquals(0, ran("put", file(1000).toString(), "/small").code());
  }

  @Test
  void anImpossibleTargetIsNamed() throws Exception {
    assertEquals(0, ran("put", file(1000).toString(), "/unplaced").code());
    Ran get = ran("get", "/unplaced", "/proc");
    assertEquals(1, get.code(), get::toString);
    assertTrue(get.stderr().startsWith("crail get: /unplaced: /proc/unplaced: "), get.stderr());
    assertFalse(get.stderr().contains(".crail-get-"), get.stderr());
  }

  /** Begins to get a file of which one datanode, which is stopped, has some blocks. */
  private CrailProcess beginGet(ProcessCluster where) throws Exception {
    Path file = file(24 << 20);
    assertEquals(0, Ran.run(where.directory(), "put", file.toString(), "/file").code());
    Files.delete(file);
    where.datanode(1).signal("STOP");
    CrailProcess get =
        where.crail(
            "get",
            "/file",
            local.resolve("got").toString(),
            "--set",
            "crail.storage.localmap=false",
            "--set",
            "crail.datatimeout=2s");
    Await.until("the copy has begun", PATIENCE, () -> !leftHere().isEmpty());
    assertTrue(get.isAlive(), get::stderr);
    assertTrue(leftHere().get(0).startsWith(".crail-get-"), leftHere()::toString);
    return get;
  }

  @Test
  void aDatanodeThatDiesLeavesNoHalfFile() throws Exception {
    try (ProcessCluster own = ProcessCluster.start(1, 2, Map.of())) {
      CrailProcess get = beginGet(own);
      own.datanode(1).kill();
      assertEquals(1, get.awaitExit(PATIENCE));
      assertEquals(1, get.stderr().lines().count(), get.stderr());
      assertTrue(get.stderr().startsWith("crail get: /file: "), get.stderr());
      String address = "127.0.0.1:" + own.datanodeAddress(1).getPort();
      assertTrue(get.stderr().contains(address), get.stderr());
      assertEquals(List.of(), leftHere());
    }
  }

  @Test
  void anInterruptedGetLeavesNoHalfFile() throws Exception {
    CrailProcess get = beginGet(cluster);
    try {
      get.signal("TERM");
      assertEquals(143, get.awaitExit(PATIENCE), get::stderr);
      assertEquals("crail get: interrupted\n", get.stderr());
      assertEquals(List.of(), leftHere());
    } finally {
      cluster.datanode(1).signal("CONT");
    }
  }

  @Test
  void anInterruptedPutLeavesNothing() throws Exception {
    Path pipe = local.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    CrailProcess put = through("exec \"$@\" <" + pipe, "put", "-", "/endless");
    try (OutputStream out = new FileOutputStream(pipe.toFile())) {
      out.write(new byte[3_000_000]);
      Await.until(
          "the copy has begun", PATIENCE, () -> ran("ls").stdout().contains("/.crail-put-"));
      put.signal("TERM");
      assertEquals(143, put.awaitExit(PATIENCE), put::stderr);
      assertEquals("crail put: interrupted\n", put.stderr());
    }
    assertNothingLeft();
  }

  /** The locale of containers and of cron, and one that few hosts have. */
  @ParameterizedTest
  @ValueSource(strings = {"C", "en_US.ISO-8859-1"})
  void namesAreTheSameInEveryLocale(String locale) throws Exception {
    assertEquals(0, ran("mkdir", "/names").code());
    file(100);
    // The shell writes the names, since these tests too may run in such a locale.
    String script =
        """
        crail() { "${words[@]}" "$@" || exit; }
        words=("$@")
        a=$(printf '\\303\\244') o=$(printf '\\303\\266')
        export LC_ALL=%s
        cd %s
        cp file "$a"
        crail put "$a" "/names/$a"
        crail fs -put "$a" "/names/$o"
        crail ls /names
        crail get "/names/$o" "$o"
        cmp "$a" "$o" || exit
        (crail rm "/names/$a$o")
        echo "no such node: $?"
        """
            .formatted(locale, local);
    CrailProcess names = through(script, "--verbose");
    int code = names.awaitExit(PATIENCE);
    if (System.getProperty("crail.home") == null) {
      assertEquals(ExitCode.USAGE, code, names::stderr);
      assertTrue(names.stderr().contains("LC_ALL=C.UTF-8"), names.stderr());
      return;
    }
    assertEquals(0, code, names::stderr);
    assertEquals(
        List.of("/names/\u00e4", "/names/\u00f6", "no such node: 1"),
        names.stdout().lines().sorted().toList());
    assertEquals(0, ran("rm", "-r", "/names").code());
  }

  /** Java is started without bin/crail, or by it, which takes names as UTF-8. */
  @Test
  void aLocalNameThatIsNoTextIsLeftOutByName() throws Exception {
    String script =
        """
        mkdir %1$s/tree
        # A byte that is no UTF-8, and two that are.
        echo 1 >"%1$s/tree/$(printf 'a\\344')"
        echo 2 >"%1$s/tree/$(printf 'b\\303\\244')"
        echo 3 >"%1$s/tree/c"
        export LC_ALL=C
        exec "$@"
        """
            .formatted(local);
    CrailProcess put = through(script, "put", "-r", local + "/tree", "/names");
    assertEquals(ExitCode.FAILURE, put.awaitExit(PATIENCE), put::stderr);
    boolean isUtf8 = System.getProperty("crail.home") != null;
    assertEquals(
        isUtf8 ? List.of("/names/b\u00e4", "/names/c") : List.of("/names/c"),
        ran("ls", "/names").stdout().lines().sorted().toList());
    List<String> left =
        put.stderr().lines().filter(line -> line.contains("was left out")).sorted().toList();
    assertEquals(isUtf8 ? 1 : 2, left.size(), put::stderr);
    assertTrue(left.get(0).contains(local + "/tree/a"), put::stderr);
    assertTrue(left.get(0).contains("LC_ALL=C.UTF-8"), put::stderr);
  }

  @Test
  void aNamedPipeIsReadWithoutWaiting() throws Exception {
    Path pipe = local.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    CrailProcess put = through("echo text >" + pipe + " & exec \"$@\"", "put", "" + pipe, "/text");
    assertEquals(0, put.awaitExit(PATIENCE), put::stderr);
    assertEquals("text\n", ran("cat", "/text").stdout());
    assertEquals(0, ran("rm", "/text").code());
    CrailProcess waiting = cluster.crail("put", pipe.toString(), "/never");
    Await.until("it waits for a writer", PATIENCE, () -> hasThread(waiting, "crail-open"));
    waiting.signal("TERM");
    // Else the end of the process would wait for a thread that cannot be interrupted.
    assertEquals(143, waiting.awaitExit(Duration.ofSeconds(10)), waiting::stderr);
    assertEquals("crail put: interrupted\n", waiting.stderr());
    assertNothingLeft();
  }

  private static boolean hasThread(CrailProcess process, String name) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        if (Files.readString(thread.resolve("comm")).strip().equals(name)) {
          return true;
        }
      }
      return false;
    } catch (NoSuchFileException e) {
      // A thread has ended meanwhile.
      return false;
    }
  }

  @Test
  void pingReportsAPortThatIsNoNamenode() {
    String wrong = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
    Ran ping = ran("ping", "-Dcrail.rpctimeout=2s", "-Dcrail.namenode.address=crail://" + wrong);
    assertEquals(1, ping.code());
    assertTrue(ping.stderr().contains(wrong), ping.stderr());
    assertTrue(ping.stderr().contains("before it answered; is it a namenode?"), ping.stderr());
  }

  /** A proxy, or a server of another kind, answers with what is no message of Crail's. */
  @Test
  void pingReportsAnotherProtocol() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread server = new Thread(() -> refuseRequests(listener));
      server.start();
      String wrong = "127.0.0.1:" + listener.getLocalPort();
      Ran ping = ran("ping", "-Dcrail.rpctimeout=2s", "-Dcrail.namenode.address=crail://" + wrong);
      listener.close();
      server.join();
      assertEquals(1, ping.code());
      assertTrue(ping.stderr().contains(wrong + ": protocol error"), ping.stderr());
      assertTrue(ping.stderr().contains("before it answered; is it a namenode?"), ping.stderr());
    }
  }

  private static void refuseRequests(ServerSocket listener) {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept()) {
        socket.getInputStream().read();
        socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(US_ASCII));
        socket.getInputStream().readAllBytes();
      } catch (IOException e) {
        // The client or the test has closed it.
      }
    }
  }

  @Test
  void aDatanodesAddressInUseIsNamed() throws Exception {
    String taken = String.valueOf(cluster.datanodeAddress(0).getPort());
    CrailProcess datanode =
        cluster.run("datanode", "--", "-p", taken, "-s", "1m", "-d", cluster.dataPath().toString());
    assertEquals(1, datanode.awaitExit(PATIENCE));
    assertTrue(
        datanode
            .stderr()
            .contains("cannot listen on 127.0.0.1:" + taken + ": address already in use"),
        datanode.stderr());
    assertFalse(datanode.stderr().contains("bind("), datanode.stderr());
  }
}
