/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.protocol.part.NodePath;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail applications} where one of two namenodes takes connections and says nothing. */
@Tag("once")
class ApplicationsCommandTest {
  private static final int PARTIAL = 3;
  private static final int ROOTS = 8;

  @TempDir private Path directory;

  private EmbeddedCrail cluster;
  private CrailStore store;
  private ServerSocket silent;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.rpctimeout 2s\ncrail.namenode.address crail://127.0.0.1:"
            + cluster.namenodeAddresses().get(0).getPort()
            + ",crail://127.0.0.1:"
            + silent.getLocalPort()
            + "\n");
  }

  @AfterEach
  void stop() throws Exception {
    silent.close();
    store.close();
    cluster.close();
  }

  private void make(String id) throws Exception {
    int atSecond = 0;
    for (int i = 0; i < ROOTS; i++) {
      String root = "/spark-" + id + "." + i;
      store
          .create(
              root,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
      atSecond += NodePath.namenodeOf(Utf8.of(root), 2);
    }
    assertTrue(atSecond > 0 && atSecond < ROOTS, "at the second: " + atSecond);
  }

  private Ran partly(String... arguments) {
    Ran ran = Ran.run(directory, arguments);
    assertEquals(PARTIAL, ran.code(), ran::toString);
    String named =
        "crail: without the part of namenode 1 at 127.0.0.1:" + silent.getLocalPort() + " ";
    assertTrue(ran.stderr().startsWith(named), ran::toString);
    assertEquals(1, ran.stderr().lines().count(), ran::toString);
    return ran;
  }

  /** Cluster and applications are asked at the same time, so they wait together. */
  @Test
  void aReportWaitsOnceForANamenodeThatHangs() {
    for (String report : List.of("applications", "report")) {
      long began = System.nanoTime();
      partly(report, "--set", "crail.rpctimeout=5s");
      double seconds = (System.nanoTime() - began) / 1e9;
      System.out.printf("%s: %.1f s%n", report, seconds);
      assertTrue(seconds >= 5 && seconds < 10, () -> report + " took " + seconds + " s");
    }
  }

  @Test
  void theOtherNamenodesPartIsShown() throws Exception {
    make("one-1");
    make("two-2");
    Ran shown = partly("applications");
    assertTrue(shown.stdout().contains("one-1 "), shown::toString);
    assertTrue(shown.stdout().contains("two-2 "), shown::toString);
  }
}
