/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail job}, with real commands. */
@Tag("once")
class JobCommandTest {
  @TempDir private static Path directory;

  private static EmbeddedCrail cluster;
  private static CrailStore store;

  @BeforeAll
  static void start() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://127.0.0.1:" + cluster.namenodeAddresses().get(0).getPort());
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private static Ran job(String... arguments) {
    List<String> all = new ArrayList<>(List.of("job"));
    all.addAll(List.of(arguments));
    return Ran.run(directory, all.toArray(String[]::new));
  }

  private static String awaitRoot(Path file) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!Files.exists(file) || !Files.readString(file).endsWith("\n")) {
      assertTrue(System.nanoTime() < end, "not begun within 20 s");
      Thread.sleep(20);
    }
    return Files.readString(file).strip();
  }

  @Test
  void theDirectoryIsThereWhileTheCommandRuns() throws Exception {
    Path file = directory.resolve("there");
    Path end = directory.resolve("end");
    String script =
        "echo $CRAIL_JOB_ROOT > "
            + file
            + "; while [ ! -e "
            + end
            + " ]; do sleep 0.1; done; exit 7";
    CompletableFuture<Ran> ran =
        CompletableFuture.supplyAsync(() -> job("-n", "my job", "sh", "-c", script));
    try {
      String root = awaitRoot(file);
      assertTrue(root.startsWith("/jobs/my-job-"), root);
      assertNotNull(store.lookup(root).get());
      Files.createFile(end);
      assertEquals(new Ran(7, "", ""), ran.get(30, TimeUnit.SECONDS));
      assertNull(store.lookup(root).get());
    } finally {
      Files.writeString(end, "");
    }
  }

  @Test
  void theOptionsOfTheCommandAreItsOwn() throws Exception {
    Path file = directory.resolve("words");
    Ran ran =
        job("-l", "10s", "sh", "-c", "echo = $0 $1 $2 $3 > " + file, "-n", "--verbose", "--", "-h");
    assertEquals(new Ran(0, "", ""), ran);
    assertEquals("= -n --verbose -- -h\n", Files.readString(file));
  }

  @Test
  void theDirectoryHasLimits() throws Exception {
    Path file = directory.resolve("limits");
    Path end = directory.resolve("limits-end");
    String script =
        "echo $CRAIL_JOB_ROOT > " + file + "; while [ ! -e " + end + " ]; do sleep 0.1; done";
    CompletableFuture<Ran> ran =
        CompletableFuture.supplyAsync(
            () -> job("--bytes", "1m", "--names", "7", "sh", "-c", script));
    try {
      Ran quota = Ran.run(directory, "quota", "--json", awaitRoot(file));
      assertTrue(quota.stdout().contains("\"bytesLimit\": 1048576"), quota.toString());
      assertTrue(quota.stdout().contains("\"namesLimit\": 7"), quota.toString());
      Files.createFile(end);
      String chosen = "crail job: the data go to storage class 0\n";
      assertEquals(new Ran(0, "", chosen), ran.get(30, TimeUnit.SECONDS));
    } finally {
      Files.writeString(end, "");
    }
    assertEquals(new Ran(0, "", ""), job("-b", "1m", "-c", "0", "true"));
    assertEquals(new Ran(0, "", ""), job("-b", "none", "-m", "none", "true"));
  }

  @Test
  void aDirectoryThatHasEndedIsReported() {
    Ran ran = job("sh", "-c", "exit 0");
    assertEquals(0, ran.code());
    Path file = directory.resolve("lost");
    CompletableFuture<Ran> lost =
        CompletableFuture.supplyAsync(
            () -> job("sh", "-c", "echo $CRAIL_JOB_ROOT > " + file + "; sleep 1"));
    try {
      store.delete(awaitRoot(file), true).get();
      Ran end = lost.get(30, TimeUnit.SECONDS);
      assertEquals(1, end.code(), end.toString());
      assertTrue(end.stderr().contains("has ended before the command"), end.stderr());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whatCannotBeRunIsRefused() {
    Ran missing = job("/no/such/command");
    assertEquals(127, missing.code());
    assertTrue(missing.stderr().contains("/no/such/command"), missing.stderr());
    assertTrue(job().stderr().contains("names no command"));
    assertTrue(job("--leese", "1s", "ls").stderr().contains("--leese"));
    assertTrue(job("-l", "1s", "ls").stderr().contains("must be between 2000ms"));
    assertEquals(2, job("-l", "soon", "ls").code());
    assertTrue(job("--bytes", "much", "ls").stderr().contains("number of bytes, such as 10g"));
    assertTrue(job("--names", "many", "ls").stderr().contains("must be a whole number from 0"));
    assertTrue(job("--names", "-1", "ls").stderr().contains("must be a whole number from 0"));
  }
}
