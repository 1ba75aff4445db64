/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
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
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
        "crail.rpctimeout 300ms\ncrail.namenode.address crail://127.0.0.1:"
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

  /** The roots of an application that was renewed last at a time; gives those at namenode 1. */
  private Set<String> make(String id, int leaseSeconds, long renewed) throws Exception {
    Set<String> second = new TreeSet<>();
    for (int i = 0; i < ROOTS; i++) {
      String root = "/spark-" + id + "." + leaseSeconds + "s." + i;
      store
          .create(
              root,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, renewed)).get();
      if (NodePath.namenodeOf(Utf8.of(root), 2) == 1) {
        second.add(root);
      }
    }
    assertTrue(!second.isEmpty() && second.size() < ROOTS, second::toString);
    return second;
  }

  private Set<String> roots() throws Exception {
    Set<String> roots = new TreeSet<>();
    Iterator<CrailNode> all = store.lookup("/").get().asContainer().listStatus();
    all.forEachRemaining(root -> roots.add(root.getPath()));
    return roots;
  }

  private Ran partly(String... arguments) {
    return partly(1, arguments);
  }

  private Ran partly(int errors, String... arguments) {
    Ran ran = Ran.run(directory, arguments);
    assertEquals(PARTIAL, ran.code(), ran::toString);
    String named =
        "crail: without the part of namenode 1 at 127.0.0.1:" + silent.getLocalPort() + " ";
    assertTrue(ran.stderr().startsWith(named), ran::toString);
    assertEquals(errors, ran.stderr().lines().count(), ran::toString);
    return ran;
  }

  /** Perhaps the namenode that does not answer knows it. */
  @Test
  void anApplicationUnknownToTheAnsweringNamenodesMayExist() {
    Ran ran = partly(2, "applications", "--clean", "--force", "--id", "other-3");
    String said = "there is no application 'other-3' where a namenode answers";
    assertTrue(ran.stderr().contains(said), ran::toString);
    assertEquals("", ran.stdout());
    Ran clean = partly("applications", "--clean");
    String none = "no application is expired where a namenode answers";
    assertTrue(clean.stdout().contains(none), clean::toString);
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
  void theOtherNamenodesPartIsShownAndCleaned() throws Exception {
    Set<String> left = make("dead-1", 1, 1);
    left.addAll(make("living-2", 999_999_999, System.currentTimeMillis()));
    Ran shown = partly("applications");
    assertTrue(shown.stdout().contains("dead-1 "), shown::toString);
    assertTrue(shown.stdout().contains("living-2 "), shown::toString);
    Ran cleaned = partly("applications", "--clean");
    assertTrue(
        cleaned.stdout().contains("dead-1 is ended where a namenode answers;"), cleaned::toString);
    Ran forced = partly("applications", "--clean", "--force", "--id", "living-2");
    assertTrue(
        forced.stdout().contains("living-2 is ended where a namenode answers;"), forced::toString);
    assertEquals(left, roots());
  }
}
