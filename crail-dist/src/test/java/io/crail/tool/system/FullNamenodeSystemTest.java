/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.config.Configuration;
import io.crail.common.error.LimitExceededException;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.command.ExitCode;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A namenode with a small heap, and one client that fills it with long names. */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
@Tag("once")
class FullNamenodeSystemTest {
  private static final Duration PATIENCE = ProcessCluster.PATIENCE;
  private static final String LONG = "n".repeat(240);
  private static final int IN_FLIGHT = 128;

  /** More names than a heap of 64 MiB can hold. */
  private static final int MOST = 1_000_000;

  @TempDir Path directory;
  private CrailProcess namenode;
  private CrailStore store;
  private String health;

  private void start(String heap, String... settings) throws Exception {
    Files.writeString(directory.resolve("crail-site.conf"), String.join("\n", settings));
    namenode =
        CrailProcess.foreign(
            System.getProperty("java.class.path"),
            Map.of("CRAIL_CONF_DIR", directory.toString()),
            List.of("-Xmx" + heap, "-XX:TieredStopAtLevel=1"),
            "io.crail.tool.Main",
            "namenode",
            "-a",
            "127.0.0.1",
            "-p",
            "0",
            "--set",
            "crail.metrics.address=127.0.0.1:0");
    health = namenode.await("metrics are at (http://[^/]*)/metrics", PATIENCE).group(1) + "/health";
    String address = namenode.await("serves on ([0-9.:]*)", PATIENCE).group(1);
    store =
        CrailStore.newInstance(
            CrailConfiguration.of(
                Configuration.builder()
                    .set("crail.namenode.address", "crail://" + address, "the test")
                    .set("crail.rpctimeout", "60s", "the test")
                    .build()));
  }

  @AfterEach
  void stop() throws Exception {
    if (store != null) {
      store.close();
    }
    if (namenode != null) {
      namenode.close();
    }
  }

  private Upcoming<CrailNode> make(String path, CrailNodeType type) throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  /** Makes long names until one is refused, and returns why. */
  private Throwable fill() throws Exception {
    make("/d", CrailNodeType.DIRECTORY).get();
    ArrayDeque<Upcoming<CrailNode>> making = new ArrayDeque<>();
    Throwable refusal = null;
    for (int i = 0; refusal == null || !making.isEmpty(); i++) {
      assertTrue(i < MOST, "it is never full");
      if (refusal == null) {
        making.add(make("/d/" + LONG + i, CrailNodeType.DIRECTORY));
      }
      if (refusal != null || making.size() >= IN_FLIGHT) {
        try {
          making.poll().get();
        } catch (ExecutionException e) {
          refusal = e.getCause();
        }
      }
    }
    return refusal;
  }

  private int health() throws Exception {
    HttpURLConnection connection = (HttpURLConnection) URI.create(health).toURL().openConnection();
    connection.setReadTimeout((int) PATIENCE.toMillis());
    try {
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }

  @Test
  void itRefusesTypedAndServesOn() throws Exception {
    start("64m");
    assertInstanceOf(LimitExceededException.class, fill());
    assertEquals(200, health());
    assertNotNull(store.lookup("/d/" + LONG + 0).get());
    store.delete("/d", true).get();
    assertEquals(200, health());
    make("/e", CrailNodeType.DIRECTORY).get();
    assertNotNull(store.lookup("/e").get());
    assertTrue(namenode.isAlive());
  }

  /** With an account that allows more than the heap has, memory runs out wherever it is needed. */
  @Test
  void withoutMemoryItEndsLoudlyOrServesOn() throws Exception {
    start("32m", "crail.namenode.memory 1g");
    assertNotNull(fill());
    try {
      store.delete("/d", true).get();
    } catch (ExecutionException e) {
      // The process is about to end, or has no memory for this either.
    }
    Await.until("it serves on, or ends", PATIENCE, () -> !namenode.isAlive() || isHealthy());
    if (!namenode.isAlive()) {
      assertEquals(ExitCode.DEAD_THREAD, namenode.awaitExit(PATIENCE));
      assertTrue(namenode.stderr().contains("OutOfMemoryError"), namenode.stderr());
    }
  }

  /** False also when a page found no memory: that costs the page, and not the process. */
  private boolean isHealthy() throws Exception {
    try {
      return health() == 200;
    } catch (IOException e) {
      return false;
    }
  }
}
