/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.report.JsonInput;
import io.crail.tool.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests reports on a cluster from its start without a datanode to the end of its last one. */
@Tag("once")
class ReportsSystemTest {
  private static final int KEEP_ALIVE_MILLIS = 100;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private static ProcessCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        ProcessCluster.start(2, 0, Map.of("crail.storage.keepalive", KEEP_ALIVE_MILLIS + "ms"));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static Ran ran(String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  private static void assertSays(int code, String part, Ran ran) {
    assertEquals(code, ran.code(), ran::toString);
    assertTrue((ran.stdout() + ran.stderr()).contains(part), part + " is not in " + ran);
  }

  @Test
  void reportsFollowTheLifeOfADatanode() throws Exception {
    Path file = Files.write(cluster.directory().resolve("file"), new byte[1 << 20]);
    assertSays(0, "there is no space: no datanode is registered\n", ran("df"));
    assertSays(1, "broken   there is no datanode", ran("status"));
    assertSays(1, "no datanode takes data; start one", ran("put", "" + file, "/"));

    cluster.startDatanode("16m", -1);
    int port = cluster.datanodeAddress(0).getPort();
    assertSays(
        0,
        "healthy: 2 of 2 namenodes answer, 1 of 1 datanodes online, 16 MiB of 16 MiB free\n",
        ran("status"));
    assertSays(0, "", ran("put", "" + file, "/"));
    assertSays(0, "1 node (files, directories, tables, key-values), 1 of 1", ran("df"));
    assertSays(0, "127.0.0.1:" + port + "  online  tcp ", ran("datanodes"));
    assertSays(0, "127.0.0.1:" + port + "  online  tcp ", ran("report"));
    programsReadReports();
    reportsAreShownAgainAndAgain();

    assertSays(0, "is being removed; 1 MiB on it", ran("removeDatanode", "localhost:" + port));
    assertSays(0, "127.0.0.1:" + port + "  draining, 1 MiB left  tcp ", ran("datanodes"));
    assertSays(0, "is being removed, 1 MiB left", ran("doctor"));
    aDrainIsRemembered(System.nanoTime());
  }

  private static void programsReadReports() throws Exception {
    Map<String, String> keys =
        Map.of(
            "df", "classes",
            "datanodes", "datanodes",
            "ping", "namenodes",
            "applications", "applications",
            "status", "healthy",
            "report", "cluster",
            "top", "paths",
            "fsck", "lostFiles",
            "doctor", "places");
    for (String command : keys.keySet()) {
      Ran ran = ran(command, "--json");
      assertTrue(command.equals("doctor") || ran.code() == 0, ran::toString);
      Map<?, ?> value = (Map<?, ?>) JsonInput.parse(ran.stdout());
      assertTrue(value.containsKey(keys.get(command)), ran::toString);
    }
    Map<?, ?> df = (Map<?, ?>) JsonInput.parse(ran("df", "--json").stdout());
    Map<?, ?> space = (Map<?, ?>) ((List<?>) df.get("classes")).get(0);
    assertEquals((double) (1 << 20), space.get("usedBytes"));
    assertEquals(0.0, space.get("lostBytes"));
    assertEquals("online", datanode().get("state"));
    assertEquals((double) (16 << 20), datanode().get("lentBytes"));
  }

  private static Map<?, ?> datanode() throws Exception {
    Map<?, ?> list = (Map<?, ?>) JsonInput.parse(ran("datanodes", "-j").stdout());
    return (Map<?, ?>) ((List<?>) list.get("datanodes")).get(0);
  }

  private static void reportsAreShownAgainAndAgain() throws Exception {
    try (CrailProcess watch = cluster.crail("df", "--watch=100ms")) {
      Await.until(
          "three reports",
          PATIENCE,
          () -> watch.stdout().lines().filter(line -> line.endsWith(" online")).count() >= 3);
      watch.terminate();
      assertEquals(143, watch.awaitExit(PATIENCE));
      assertFalse(watch.stdout().contains("\u001b"), "no terminal");
    }
  }

  /** The datanode is empty for namenodes that have restarted, so it may end. */
  private static void aDrainIsRemembered(long removedNanos) throws Exception {
    Await.until(
        "the datanode has got an answer since it was removed",
        PATIENCE,
        () -> {
          // Its next sign of life comes only after the answer to the last one.
          double silentMillis = (double) datanode().get("silentMillis");
          return (System.nanoTime() - removedNanos) / 1e6 - silentMillis > 2 * KEEP_ALIVE_MILLIS;
        });
    cluster.restartNamenode(0);
    cluster.restartNamenode(1);
    assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
    assertSays(1, "and all that was stored there before is gone", ran("status"));
  }
}
