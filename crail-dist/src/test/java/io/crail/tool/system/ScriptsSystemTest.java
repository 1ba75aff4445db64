/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Tests the scripts of an assembled layout. {@code bin/test} says where the layout is. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.home", matches = ".+")
class ScriptsSystemTest {
  private static final Path HOME = Path.of(System.getProperty("crail.home", ""));

  @TempDir Path directory;

  private record Result(int code, String output) {}

  private Result run(String... command) throws Exception {
    return run(directory, command);
  }

  private Result run(Path conf, String... command) throws Exception {
    Path output = directory.resolve("output");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("CRAIL_CONF_DIR", conf.toString());
    builder.environment().put("CRAIL_EXTRA_JAVA_OPTIONS", CrailProcess.QUICK_START);
    builder.environment().put("CRAIL_LOG_DIR", directory.resolve("logs").toString());
    builder.environment().put("CRAIL_PID_DIR", directory.resolve("pids").toString());
    builder.environment().remove("CRAIL_HOME");
    // Programs that a test makes come first.
    builder
        .environment()
        .merge("PATH", "", (path, nothing) -> conf.resolve("programs") + ":" + path);
    builder.redirectErrorStream(true).redirectOutput(output.toFile());
    Process process = builder.start();
    if (!process.waitFor(120, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("still runs: " + List.of(command) + Files.readString(output));
    }
    return new Result(process.exitValue(), Files.readString(output));
  }

  private static String script(String name) {
    return HOME.resolve("bin").resolve(name).toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void aClusterIsStartedAndStopped() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://localhost:" + freePort() + ",127.0.0.1:" + freePort());
    Files.writeString(
        directory.resolve("datanodes"),
        "# two on this host\nlocalhost -- -p 0 -s 16m -d "
            + data
            + "\n127.0.0.1 -c 1 -- -p 0 -s 16m -d "
            + data
            + " # the second\n");
    try {
      Result start = run(script("start-crail"));
      assertEquals(0, start.code, start.output);
      assertTrue(start.output.contains("2 of 2 datanodes online"), start.output);
      Result again = run(script("start-crail"));
      assertEquals(0, again.code, again.output);
      assertEquals(4, again.output.lines().filter(line -> line.contains(" runs already")).count());
      assertTrue(run(script("crail"), "ping").output.contains("namenode 1 at "));
    } finally {
      Result stop = run(script("stop-crail"));
      assertEquals(0, stop.code, stop.output);
      assertEquals(4, stop.output.lines().filter(line -> line.endsWith(" has ended")).count());
    }
    for (String emptied : List.of("data", "pids")) {
      try (Stream<Path> files = Files.list(directory.resolve(emptied))) {
        assertEquals(List.of(), files.toList());
      }
    }
  }

  @Test
  void theDoctorFindsWhatIsBroken() throws Exception {
    int held = freePort();
    String address = "crail://localhost:" + freePort() + ",127.0.0.1:" + held;
    Files.writeString(
        directory.resolve("crail-site.conf"), "crail.namenode.address " + address + "\n");
    Files.writeString(
        directory.resolve("datanodes"),
        "# one that is too large\n  localhost -c 0 -- -s 1000t # all\none.invalid\ntwo.invalid\n");
    Path ssh = Files.createDirectory(directory.resolve("programs")).resolve("ssh");
    program(
        ssh,
        """
        echo 'A notice of the host'
        for command; do :; done
        case "$*" in
          *one.invalid*) exec sh -c "$command" ;;
          *) printf 'version\\t0.0\\nset\\tcrail.cluster.name\\tx\\nclock\\t1000\\n' ;;
        esac
        """);
    Process namenode =
        new ProcessBuilder(
                script("crail"),
                "namenode",
                "-i",
                "0",
                "--set",
                "crail.namenode.address=" + address)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("namenode.out").toFile())
            .start();
    try (Socket other = new Socket()) {
      other.bind(new InetSocketAddress("127.0.0.1", held));
      Await.until(
          "the namenode serves",
          Duration.ofSeconds(60),
          () -> Files.readString(directory.resolve("namenode.out")).contains(" serves on "));
      Result doctor = run(script("crail"), "doctor", "--hosts");
      assertEquals(1, doctor.code, doctor.output);
      for (String part :
          List.of(
              "a datanode lends 1000 TiB",
              "ok       namenode 0 at ",
              "broken   namenode 1 at ",
              "warning  namenode 1 could not listen on 127.0.0.1:" + held,
              "broken   there is no datanode",
              "host one.invalid",
              "ok       the same configuration as this host",
              "ok       namenode 0 at ",
              " answers this host",
              " does not answer this host: ",
              "host two.invalid",
              "broken   it has Crail 0.0, and this host ",
              "late against",
              "differs from that of this host in crail.cluster.name, crail.namenode.address")) {
        assertTrue(doctor.output.contains(part), part + " is not in " + doctor.output);
      }
      assertTrue(!doctor.output.contains("namenode 0 could not"), doctor.output);
    } finally {
      namenode.destroy();
      assertTrue(namenode.waitFor(60, TimeUnit.SECONDS));
    }
    program(ssh, "echo 'ssh: no route' >&2\nexit 255");
    Result unreachable = run(script("crail"), "doctor", "--hosts");
    assertTrue(
        unreachable.output.contains("cannot be run there through ssh: ssh: no route"),
        unreachable.output);
  }

  @Test
  void anInterruptedDoctorLeavesNoSsh() throws Exception {
    Path conf = cluster("conf");
    Files.writeString(conf.resolve("datanodes"), "one.invalid\n");
    Path programs = Files.createDirectory(conf.resolve("programs"));
    Path started = directory.resolve("started");
    program(programs.resolve("ssh"), "echo $$ >" + started + "\nexec sleep 600");
    ProcessBuilder builder = new ProcessBuilder(script("crail"), "doctor", "--hosts");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("CRAIL_CONF_DIR", conf.toString());
    builder.environment().merge("PATH", "", (path, no) -> conf.resolve("programs") + ":" + path);
    Process doctor =
        builder
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("doctor.out").toFile())
            .start();
    try {
      Await.until(
          "ssh has started",
          Duration.ofSeconds(60),
          () -> Files.exists(started) && Files.readString(started).endsWith("\n"));
    } finally {
      doctor.destroy();
      assertTrue(doctor.waitFor(60, TimeUnit.SECONDS));
    }
    long pid = Long.parseLong(Files.readString(started).strip());
    Optional<ProcessHandle> left = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    left.ifPresent(ProcessHandle::destroyForcibly);
    assertTrue(left.isEmpty(), "ssh is left, process " + pid);
  }

  private static void program(Path file, String text) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + text + "\n");
    assertTrue(file.toFile().setExecutable(true));
  }

  /** A cluster without a datanode, which has a free port. */
  private Path cluster(String name) throws IOException {
    Path conf = Files.createDirectory(directory.resolve(name));
    Files.writeString(conf.resolve("datanodes"), "# none\n");
    address(conf);
    return conf;
  }

  private static void address(Path conf) throws IOException {
    Files.writeString(
        conf.resolve("crail-site.conf"), "crail.namenode.address crail://localhost:" + freePort());
  }

  @Test
  void twoClustersOnAHostLeaveEachOtherAlone() throws Exception {
    Path one = cluster("one");
    Path two = cluster("two");
    try {
      for (Path each : List.of(one, two)) {
        Result start = run(each, script("start-crail"));
        assertEquals(0, start.code, start.output);
        assertTrue(start.output.contains("names no datanode"), start.output);
        assertTrue(!start.output.contains("already"), start.output);
      }
      Result stop = run(one, script("stop-crail"));
      assertEquals("namenode-0 has ended\n", stop.output);
      assertEquals(0, run(two, script("crail"), "ping").code);
    } finally {
      run(one, script("stop-crail"));
      Result last = run(two, script("stop-crail"));
      assertEquals("namenode-0 has ended\n", last.output);
    }
  }

  /** Both have their datanode's memory in the usual place. */
  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void twoInstallationsLeaveEachOtherAlone() throws Exception {
    try (Installation one = new Installation(directory.resolve("one"));
        Installation two = new Installation(directory.resolve("two"))) {
      String started = "";
      for (Installation each : List.of(one, two)) {
        each.configure("crail.namenode.address crail://localhost:9060");
        each.configure("crail.storage.tcp.storagelimit 64m");
        each.run("echo " + each.home() + " >mine");
        started = each.run("bin/start-crail");
        assertTrue(started.contains("1 of 1 datanodes online"), started);
        each.run("bin/crail fs -put mine /mine");
      }
      // That of a datanode that was killed is removed by the next one.
      Matcher datanode = Pattern.compile("datanode-0: .*process (\\d+)").matcher(started);
      assertTrue(datanode.find(), started);
      two.run("kill -9 " + datanode.group(1));
      two.run("while kill -0 " + datanode.group(1) + " 2>/dev/null; do sleep 0.1; done");
      two.run("bin/stop-crail");
      assertTrue(two.run("bin/start-crail").contains("1 of 1 datanodes online"));
      two.run("bin/stop-crail");
      assertEquals(one.home() + "\n", one.run("bin/crail fs -cat /mine"));
      one.run("bin/stop-crail");
      for (Installation each : List.of(one, two)) {
        try (Stream<Path> logs = Files.list(each.home().resolve("logs"))) {
          String[] names =
              logs.map(log -> log.getFileName().toString()).sorted().toArray(String[]::new);
          assertEquals(4, names.length, String.join(" ", names));
        }
      }
    }
  }

  @Test
  void aProcessThatOnlyHasTheNumberOfAServerIsLeftAlone() throws Exception {
    Path conf = cluster("conf");
    assertEquals(0, run(conf, script("start-crail")).code);
    Path file;
    try (Stream<Path> files = Files.list(directory.resolve("pids"))) {
      file = files.findFirst().orElseThrow();
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(0, run(conf, script("stop-crail")).code);
    Process other = new ProcessBuilder("sleep", "600").start();
    try {
      // With the time at which the server was started.
      String ticks = lines.get(0).split(" ")[1];
      Files.write(file, List.of(other.pid() + " " + ticks, lines.get(1)));
      Result stop = run(conf, script("stop-crail"));
      assertEquals("namenode-0 does not run\n", stop.output);
      assertTrue(other.isAlive());
    } finally {
      other.destroyForcibly().waitFor();
    }
  }

  /** The first process of a container often never asks for its children, so they stay zombies. */
  @Test
  void aServerThatIsNotAskedForHasEndedAllTheSame() throws Exception {
    Path conf = cluster("conf");
    assertEquals(0, run(conf, script("start-crail")).code);
    Path file;
    try (Stream<Path> files = Files.list(directory.resolve("pids"))) {
      file = files.findFirst().orElseThrow();
    }
    String addresses = Files.readAllLines(file).get(1);
    assertEquals(0, run(conf, script("stop-crail")).code);
    Path child = directory.resolve("child");
    Process careless =
        new ProcessBuilder("sh", "-c", "sleep 600 & echo $! >" + child + "; exec sleep 600")
            .start();
    String pid = "";
    try {
      Await.until(
          "it has a child",
          Duration.ofSeconds(60),
          () -> Files.exists(child) && Files.readString(child).endsWith("\n"));
      pid = Files.readString(child).strip();
      String stat = stat(pid);
      Files.write(file, List.of(pid + " " + stat.split(" ")[19], addresses));
      assertEquals("namenode-0 has ended\n", run(conf, script("stop-crail")).output);
      assertTrue(stat(pid).startsWith("Z "), "it was asked for");
      Files.write(file, List.of(pid + " " + stat.split(" ")[19], addresses));
      assertEquals("namenode-0 does not run\n", run(conf, script("stop-crail")).output);
    } finally {
      careless.destroyForcibly().waitFor();
      ProcessHandle.of(pid.isEmpty() ? 0 : Long.parseLong(pid))
          .ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  /** The fields of a process after its name: its state, and so on. */
  private static String stat(String pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2);
  }

  /** Anybody may make such files where the directory is open to all. */
  @Test
  void aPidFileOfAnotherUserIsLeftAlone() throws Exception {
    Path conf = cluster("conf");
    Path pids = Files.createDirectory(directory.resolve("pids"));
    Process other = new ProcessBuilder("sleep", "600").start();
    try {
      String cluster = run("sh", "-c", "printf %s " + conf.toRealPath() + " | cksum").output;
      String user = run("sh", "-c", "printf %s \"${USER:-$(id -un)}\"").output;
      String host = run("uname", "-n").output.strip();
      String prefix = "crail-" + user + "-" + host + "-" + cluster.split(" ")[0] + "-";
      String ticks = stat("" + other.pid()).split(" ")[19];
      // One that the configuration names, and one that it does not name any more.
      for (String name : List.of("namenode-0", "datanode-7")) {
        Path file = pids.resolve(prefix + name + ".pid");
        Files.writeString(file, other.pid() + " " + ticks + "\ncrail://localhost:1\n");
        assumeTrue(run("chown", "nobody", file.toString()).code == 0, "only root may give files");
      }
      Result stop = run(conf, script("stop-crail"));
      assertEquals(0, stop.code, stop.output);
      assertTrue(stop.output.contains("belongs to another user"), stop.output);
      assertTrue(stop.output.endsWith("namenode-0 does not run\n"), stop.output);
      assertTrue(other.isAlive());
      try (Stream<Path> files = Files.list(pids)) {
        assertEquals(2, files.count());
      }
      // The proof that it was the owner.
      run("chown", "-R", "0", pids.toString());
      assertTrue(run(conf, script("stop-crail")).output.contains("-0 has ended"));
    } finally {
      other.destroyForcibly().waitFor();
    }
  }

  @Test
  void distinguishesPidFilesOfHostsThatShareADirectory() throws Exception {
    Path conf = cluster("conf");
    Path programs = Files.createDirectory(conf.resolve("programs"));
    try {
      assertEquals(0, run(conf, script("start-crail")).code);
      program(programs.resolve("uname"), "echo elsewhere");
      assertEquals("namenode-0 does not run\n", run(conf, script("stop-crail")).output);
    } finally {
      Files.deleteIfExists(programs.resolve("uname"));
      assertEquals("namenode-0 has ended\n", run(conf, script("stop-crail")).output);
    }
  }

  @Test
  void aDatanodeThatCannotBeStartedLeavesTheOthers() throws Exception {
    Path conf = cluster("conf");
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.writeString(
        conf.resolve("datanodes"), "one.invalid\nlocalhost -- -p 0 -s 16m -d " + data + "\n");
    Path programs = Files.createDirectory(conf.resolve("programs"));
    program(programs.resolve("ssh"), "exit 255");
    try {
      Result start = run(conf, script("start-crail"));
      assertEquals(1, start.code, start.output);
      assertTrue(
          start.output.contains("one.invalid: could not run start-crail for datanode-0\n"),
          start.output);
      assertTrue(
          start.output.endsWith(
              "start-crail: not all datanodes run; the others do. Start the rest by start-crail"
                  + " once more, or end all by stop-crail\n"),
          start.output);
      String online = run(conf, script("crail"), "df").output;
      assertTrue(online.contains("1 of 1 datanodes online"), online);
    } finally {
      Result stop = run(conf, script("stop-crail"));
      assertEquals(1, stop.code, stop.output);
      assertTrue(stop.output.contains("could not run stop-crail for datanode-0\n"), stop.output);
      assertEquals(2, stop.output.lines().filter(line -> line.endsWith(" has ended")).count());
    }
  }

  @Test
  void theLibraryOfCMakesFewPools() throws Exception {
    Path home = Files.createDirectories(directory.resolve("java/bin")).getParent();
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
    program(home.resolve("bin/java"), "echo pools $MALLOC_ARENA_MAX");
    String java = "JAVA_HOME=" + home.toRealPath();
    assertEquals(
        "pools 4\n", run("env", "-u", "MALLOC_ARENA_MAX", java, script("crail"), "df").output);
    assertEquals("pools 2\n", run("env", "MALLOC_ARENA_MAX=2", java, script("crail"), "df").output);
  }

  @Test
  void aServerIsFoundAfterTheConfigurationHasChanged() throws Exception {
    Path conf = cluster("conf");
    try {
      assertEquals(0, run(conf, script("start-crail")).code);
      address(conf);
      Result again = run(conf, script("start-crail"));
      assertEquals(1, again.code, again.output);
      assertTrue(again.output.contains("stop-crail ends it"), again.output);
    } finally {
      assertEquals("namenode-0 has ended\n", run(conf, script("stop-crail")).output);
    }
  }

  @Test
  void aServerThatCannotStartIsExplained() throws Exception {
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://localhost:" + freePort() + "\ncrail.nonsense 1\n");
    Files.writeString(directory.resolve("datanodes"), "localhost\n");
    Result start = run(script("start-crail"));
    assertTrue(start.code != 0);
    assertTrue(start.output.contains("crail-site.conf:2: unknown key"), start.output);
  }

  @Test
  void aLauncherWithoutAJavaSaysWhatItNeeds() throws Exception {
    ProcessBuilder builder = new ProcessBuilder(script("crail"), "version");
    builder.environment().put("JAVA_HOME", directory.toString());
    builder.environment().put("CRAIL_CONF_DIR", directory.toString());
    builder.redirectErrorStream(true);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(1, process.waitFor());
    assertTrue(output.contains("JAVA_HOME"), output);
    assertTrue(output.contains("17"), output);
  }

  @Test
  void theLayoutHasWhatItNeedsAndNoTestFramework() throws Exception {
    for (String file : List.of("README.md", "LICENSE", "NOTICE", "conf/crail-site.conf")) {
      assertTrue(Files.isRegularFile(HOME.resolve(file)), file);
    }
    try (Stream<Path> jars = Files.list(HOME.resolve("lib"))) {
      for (Path jar : jars.toList()) {
        String name = jar.getFileName().toString();
        assertTrue(!name.matches("(junit|opentest4j|archunit|apiguardian).*"), name);
      }
    }
  }
}
