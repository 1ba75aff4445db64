/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.ProcessUser;
import io.crail.conf.CrailConfiguration;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What users of one host can do with each other's servers. Needs root, which can be any user. */
@Tag("once")
class OtherUsersSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int ONE = 12345;
  private static final int TWO = 54321;
  private static final String TEXT = "not for everybody's eyes";

  @TempDir Path directory;
  private Path conf;

  /** Reads a file, and prints it and which ways the bytes have taken. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws Exception {
      try (CrailStore store =
          CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile(arguments[0]))) {
        CrailFile file = store.lookup("/file").get().asFile();
        try (InputStream in = file.getBufferedInputStream(file.getCapacity())) {
          System.out.println("read " + new String(in.readAllBytes()));
        }
        System.out.println(store.getStatistics().describe("core/input"));
      }
    }
  }

  @BeforeEach
  void makeDirectories() throws Exception {
    assumeTrue(ProcessUser.id() == 0, "only root can act as other users");
    setRights(directory, "rwxr-xr-x");
    conf = directory(directory.resolve("conf"), "rwxr-xr-x");
    Path clone = Path.of("..").toRealPath();
    assumeTrue(
        as(ONE, Map.of(), "ls", clone.toString()).code() == 0, "other users cannot read " + clone);
  }

  @AfterEach
  void removeDefaultDataPaths() throws Exception {
    for (int user : List.of(ONE, TWO)) {
      assertFalse(Files.exists(Path.of("/dev/shm/crail-" + user)), "left by user " + user);
    }
  }

  private static Path directory(Path path, String rights) throws Exception {
    setRights(Files.createDirectory(path), rights);
    return path;
  }

  private static void setRights(Path path, String rights) throws Exception {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(rights));
  }

  private record Result(int code, String output) {}

  /** The words before a command that is to run as a user who has no name and no home. */
  private List<String> through(int user, Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("setpriv", "--reuid", "" + user, "--regid", "" + user));
    command.addAll(List.of("--clear-groups", "env", "-i", "PATH=/usr/bin:/bin"));
    command.add("JAVA_HOME=" + System.getProperty("java.home"));
    command.add("CRAIL_CONF_DIR=" + conf);
    environment.forEach((name, value) -> command.add(name + "=" + value));
    return command;
  }

  private Result as(int user, Map<String, String> environment, String... words) throws Exception {
    List<String> command = new ArrayList<>(through(user, environment));
    command.addAll(Arrays.asList(words));
    Path output = Files.createTempFile(directory, "output", null);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertTrue(
        process.waitFor(PATIENCE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS),
        () -> "still runs: " + command);
    return new Result(process.exitValue(), Files.readString(output));
  }

  private static String script(String name) {
    String home = System.getProperty("crail.home");
    assumeTrue(home != null, "there is no assembled layout");
    return home + "/bin/" + name;
  }

  private void configure(String... lines) throws Exception {
    Files.write(
        conf.resolve("crail-site.conf"),
        Stream.concat(
                Stream.of(
                    "crail.namenode.address crail://localhost:" + Installation.freePort(),
                    "crail.metrics.address localhost:0"),
                Stream.of(lines))
            .toList());
  }

  @Test
  void anotherUserReadsOverTheNetworkAndSeesNoFile() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, Map.of())) {
      Path site = conf.resolve("crail-site.conf");
      Files.copy(cluster.directory().resolve("crail-site.conf"), site);
      setRights(site, "rw-r--r--");
      try (CrailStore store =
          CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile("" + site))) {
        try (var out = file(store).getBufferedOutputStream(0)) {
          out.write(TEXT.getBytes());
        }
      }
      String same = read(0, site);
      assertTrue(same.contains("remoteOps 0,"), same);
      String other = read(ONE, site);
      assertTrue(other.contains("localOps 0,"), other);
      assertTrue(other.contains("belongs to user 0, and this process runs as user 12345"), other);
      // The directories above are open, so only the datanode's own keeps others out.
      setRights(cluster.dataPath(), "rwxr-xr-x");
      Path lent;
      try (Stream<Path> entries = Files.list(cluster.dataPath())) {
        lent = entries.findFirst().orElseThrow();
      }
      assertEquals(0, as(ONE, Map.of(), "ls", "" + cluster.dataPath()).code());
      for (String name : List.of("", "region-0", "hazards", "writers")) {
        Result look = as(ONE, Map.of(), "ls", lent + "/" + name);
        assertTrue(look.output().contains("Permission denied"), look.output());
      }
      assertTrue(as(ONE, Map.of(), "cat", lent + "/region-0").code() != 0);
    }
  }

  private static CrailFile file(CrailStore store) throws Exception {
    return store
        .create(
            "/file",
            io.crail.CrailNodeType.DATAFILE,
            io.crail.CrailStorageClass.DEFAULT,
            io.crail.CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile();
  }

  private String read(int user, Path site) throws Exception {
    String home = System.getProperty("crail.home");
    assumeTrue(home != null, "there is no assembled layout");
    // Other users cannot read Maven's repository.
    String classes = Path.of("target/test-classes").toRealPath() + ":" + home + "/lib/*";
    Result result =
        as(
            user,
            Map.of(),
            System.getProperty("java.home") + "/bin/java",
            "-Dlog4j2.configurationFile=" + home + "/conf/log4j2-server.xml",
            "-cp",
            classes,
            Reader.class.getName(),
            site.toString());
    assertEquals(0, result.code(), result.output());
    assertTrue(result.output().contains("read " + TEXT), result.output());
    return result.output();
  }

  @Test
  void usersWithoutANameHaveClustersFromAReadOnlyInstallation() throws Exception {
    configure("crail.storage.tcp.storagelimit 16m");
    Files.writeString(conf.resolve("datanodes"), "localhost -- -p 0\n");
    Result refused = as(ONE, Map.of(), script("start-crail"));
    assertEquals(1, refused.code(), refused.output());
    assertTrue(refused.output().contains("set CRAIL_LOG_DIR to a directory of this user"));
    assertFalse(refused.output().contains("mkdir:"), refused.output());
    Path logs = directory(directory.resolve("logs"), "rwxr-xr-x");
    Files.setAttribute(logs, "unix:uid", ONE);
    Map<String, String> environment = Map.of("CRAIL_LOG_DIR", logs.toString());
    try {
      Result start = as(ONE, environment, script("start-crail"));
      assertEquals(0, start.code(), start.output());
      try (CrailProcess second =
          CrailProcess.crail(
              through(TWO, Map.of()), conf, "datanode", "--", "-p", "0", "-s", "16m")) {
        second.await("registered$", PATIENCE);
        String online = as(TWO, Map.of(), script("crail"), "df").output();
        assertTrue(online.contains("2 of 2 datanodes online"), online);
      }
    } finally {
      Result stop = as(ONE, environment, script("stop-crail"));
      assertEquals(0, stop.code(), stop.output());
    }
  }

  @Test
  void noServerWritesThroughALinkInThePlaceOfItsLog() throws Exception {
    configure();
    Files.writeString(conf.resolve("datanodes"), "");
    Path victim = Files.writeString(directory.resolve("victim"), TEXT);
    setRights(victim, "rw-rw-rw-");
    for (String end : List.of("out", "log")) {
      Path logs = directory(directory.resolve("logs-" + end), "rwxrwxrwx");
      Map<String, String> environment = Map.of("CRAIL_LOG_DIR", logs.toString(), "USER", "one");
      Result open = as(ONE, environment, script("start-crail"));
      assertTrue(open.output().contains("other users may change what is in " + logs));
      Files.setAttribute(logs, "unix:mode", 01777);
      String sum = as(ONE, Map.of(), "sh", "-c", "printf %s " + conf + " | cksum").output();
      Path log = logs.resolve("crail-one-" + sum.split(" ")[0] + "-namenode-0." + end);
      assertEquals(0, as(TWO, Map.of(), "ln", "-s", "" + victim, "" + log).code());
      Result start = as(ONE, environment, script("start-crail"));
      assertEquals(1, start.code(), start.output());
      assertTrue(start.output().contains(log + " is a link"), start.output());
      assertEquals(TEXT, Files.readString(victim));
    }
  }

  @Test
  void aDataPathOfAnotherUserIsRefusedWithASentence() throws Exception {
    configure();
    Path squatted = directory(directory.resolve("squatted"), "rwxrwxrwx");
    Files.setAttribute(squatted, "unix:uid", TWO);
    Path closed = directory(directory.resolve("closed"), "rwx------");
    assertRefused(
        squatted, squatted + " belongs to user 54321, and this process runs as user 12345");
    assertRefused(closed.resolve("data"), "user 12345 may not make " + closed.resolve("data"));
  }

  private void assertRefused(Path dataPath, String reason) throws Exception {
    Result result =
        as(ONE, Map.of(), script("crail"), "datanode", "--", "-p", "0", "-d", dataPath.toString());
    assertTrue(result.code() != 0);
    assertTrue(result.output().contains(reason), result.output());
    assertTrue(result.output().contains("name another data path (-d)"), result.output());
    assertFalse(result.output().contains("Exception"), result.output());
  }
}
