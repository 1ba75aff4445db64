/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.MissingNamenode;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Valve;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Held;
import io.crail.spark.application.Applications.Report;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ApplicationsTest {
  private static final long RENEWED = 7_000L;
  private static final Instant BEGAN = Instant.parse("2026-11-26T10:20:30Z");

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Less than a client takes to give up a namenode that is silent. */
  private static final long MOST_SECONDS = 9;

  private EmbeddedCrail cluster;
  private CrailStore store;
  private Applications applications;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    applications = new Applications(store, NamenodeAddresses.of(cluster.namenodeAddresses()));
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private CrailNode create(String path, CrailNodeType type) throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
  }

  private void write(String path, int bytes) throws Exception {
    try (CrailBufferedOutputStream out =
        create(path, CrailNodeType.DATAFILE).asFile().getBufferedOutputStream(0)) {
      out.write(new byte[bytes]);
    }
  }

  /** An application with two map outputs and a broadcast value, whose lease was renewed once. */
  private String make(String name) throws Exception {
    String id = Roots.application(name, BEGAN, new byte[] {1, 2});
    List<String> roots = Roots.of(id, 2);
    for (String root : roots) {
      create(root, CrailNodeType.DIRECTORY);
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, RENEWED)).get();
    }
    for (int i = 0; i < 2; i++) {
      create(roots.get(i) + "/shuffle-1", CrailNodeType.DIRECTORY);
      write(roots.get(i) + "/shuffle-1/" + i, 100 + i);
    }
    create(roots.get(5) + "/broadcast", CrailNodeType.DIRECTORY);
    write(roots.get(5) + "/broadcast/7", 1000);
    return id;
  }

  @Test
  void allRootsOfAnApplicationCount() throws Exception {
    create("/spark-of-somebody", CrailNodeType.DIRECTORY);
    String second = make("B & b");
    String first = make("a");
    List<Application> found = applications.list().applications();
    assertEquals(List.of(first, second), found.stream().map(Application::id).toList());
    assertEquals("b-b-20261126-102030-0102", second);
    Application application = found.get(1);
    assertEquals(Optional.of(BEGAN), application.began());
    assertEquals(Instant.ofEpochMilli(RENEWED), application.renewed());
    assertEquals(new Held(2, 201), application.shuffle());
    assertEquals(new Held(1, 1000), application.broadcast());
    assertEquals(8, application.roots().size());
    assertEquals(List.of(), applications.list().missing());
  }

  private static List<Integer> indexes(List<MissingNamenode> missing) {
    return missing.stream().map(MissingNamenode::index).toList();
  }

  /** The roots at a namenode. */
  private static List<String> at(int namenode, Application application) {
    return application.roots().stream()
        .filter(root -> UnansweringNamenodes.namenodeOf(root, 2) == namenode)
        .toList();
  }

  @Test
  @Tag("once")
  void theOtherNamenodesPartIsSeen() throws Exception {
    make("a");
    make("b");
    Application first = applications.list().applications().get(0);
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        CrailStore half = half(silent)) {
      Applications some = new Applications(half, NamenodeAddresses.of(addresses(silent)));
      Report seen = some.list();
      assertEquals(List.of(1), indexes(seen.missing()));
      assertEquals(2, seen.applications().size());
      assertEquals(Set.copyOf(at(0, first)), Set.copyOf(seen.applications().get(0).roots()));
    }
  }

  private List<InetSocketAddress> addresses(ServerSocket second) {
    return List.of(
        cluster.namenodeAddresses().get(0),
        new InetSocketAddress(second.getInetAddress(), second.getLocalPort()));
  }

  /** A store whose second namenode takes connections and says nothing. */
  private CrailStore half(ServerSocket second) throws Exception {
    String names =
        addresses(second).stream()
            .map(address -> "crail://127.0.0.1:" + address.getPort())
            .collect(Collectors.joining(","));
    Configuration other =
        cluster.configuration().toBuilder()
            .set("crail.rpctimeout", "300", "the test")
            .set("crail.namenode.address", names, "the test")
            .build();
    return CrailStore.newInstance(CrailConfiguration.of(other));
  }

  @Test
  @Tag("once")
  void aLookupWaitsNoLongerThanItsLimit() throws Exception {
    String id = make("a");
    List<String> roots = Roots.of(id, 2);
    try (Valve valve = new Valve(cluster.namenodeAddresses().get(1))) {
      Configuration through =
          cluster.configuration().toBuilder()
              .set("crail.rpctimeout", "60s", "the test")
              .set(
                  "crail.namenode.address",
                  "crail://127.0.0.1:"
                      + cluster.namenodeAddresses().get(0).getPort()
                      + ","
                      + valve.address(),
                  "the test")
              .build();
      try (CrailStore slow = CrailStore.newInstance(CrailConfiguration.of(through));
          Holdings holdings =
              new Holdings(
                  new Applications(slow, NamenodeAddresses.of(cluster.namenodeAddresses())),
                  id,
                  roots)) {
        Report all = holdings.look(PATIENCE);
        assertEquals(List.of(), all.missing());
        Application whole = all.applications().get(0);
        assertEquals(Set.copyOf(roots), Set.copyOf(whole.roots()));
        valve.hold(true);
        long begin = System.nanoTime();
        Report part = holdings.look(Duration.ofSeconds(2));
        long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
        assertTrue(seconds < MOST_SECONDS, "took " + seconds + " s");
        assertEquals(List.of(1), indexes(part.missing()));
        assertEquals(at(0, whole), part.applications().get(0).roots());
        valve.hold(false);
        Report again = holdings.look(PATIENCE);
        assertEquals(List.of(), again.missing());
        assertEquals(whole.shuffle(), again.applications().get(0).shuffle());
      }
    }
  }
}
