/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Valve;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RootCleanerTest {
  private static final Duration LEASE = Duration.ofSeconds(100);

  private final AtomicLong now = new AtomicLong(1);
  private EmbeddedCrail cluster;
  private CrailStore store;
  private RootCleaner cleaner;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    cleaner = new RootCleaner(store, now::get);
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void create(String path) throws Exception {
    store
        .create(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
  }

  private int cleanAfter(Duration time) throws Exception {
    now.addAndGet(time.toNanos());
    return cleaner.clean();
  }

  /** Looks often enough for a time of up to a lease. */
  private int cleanDuring(Duration time) throws Exception {
    int deleted = 0;
    for (int i = 0; i < 4; i++) {
      deleted += cleanAfter(time.dividedBy(4));
    }
    return deleted;
  }

  /** A store where no server listens at the second namenode's address. */
  private CrailStore halfStore() throws Exception {
    int first = cluster.namenodeAddresses().get(0).getPort();
    return store("crail://127.0.0.1:" + first + ",crail://127.0.0.1:" + freePort(), "500");
  }

  private CrailStore store(String namenodes, String timeout) throws Exception {
    Configuration other =
        cluster.configuration().toBuilder()
            .set("crail.rpctimeout", timeout, "the test")
            .set("crail.namenode.address", namenodes, "the test")
            .build();
    return CrailStore.newInstance(CrailConfiguration.of(other));
  }

  @Test
  void rootsSpreadOverTheNamenodes() {
    assertEquals(List.of("/spark-a-1.100s.0"), Roots.of("a-1", LEASE, 1));
    List<String> roots = Roots.of("a-1", LEASE, 2);
    assertEquals(8, roots.size());
    roots.forEach(
        root -> assertEquals(Optional.of(new Roots.Root("a-1", LEASE)), Roots.parse(root)));
    assertEquals(Optional.empty(), Roots.parse("/spark-a-1"));
    assertEquals(Optional.empty(), Roots.parse("/other"));
  }

  @Test
  void eachNamenodeHasAsManyRoots() {
    for (int namenodes = 2; namenodes <= 16; namenodes++) {
      for (String application : List.of("a-1", "b-20261126-102030-0102", "c")) {
        List<String> roots = Roots.of(application, LEASE, namenodes);
        assertEquals(4 * namenodes, Set.copyOf(roots).size());
        assertEquals(roots, Roots.of(application, LEASE, namenodes));
        for (int i = 0; i < roots.size(); i++) {
          int at = UnansweringNamenodes.namenodeOf(roots.get(i), namenodes);
          assertEquals(i % namenodes, at, roots.get(i));
          assertEquals(Optional.of(new Roots.Root(application, LEASE)), Roots.parse(roots.get(i)));
        }
      }
    }
  }

  @Test
  void aRootGoesWhenItsLeaseHasStoodStill() throws Exception {
    List<String> roots = Roots.of("dead", LEASE, 2);
    for (String root : roots) {
      create(root);
      create(root + "/shuffle-0");
    }
    create("/spark-of-somebody");
    assertEquals(0, cleaner.clean());
    assertEquals(0, cleanDuring(LEASE.minusSeconds(4)));
    assertEquals(8, cleanAfter(Duration.ofSeconds(4)));
    for (String root : roots) {
      assertNull(store.lookup(root).get());
    }
    assertNotNull(store.lookup("/spark-of-somebody").get());
  }

  @Test
  void aRootStaysAsLongAsOneProcessRenewsIt() throws Exception {
    List<String> roots = Roots.of("alive", LEASE, 1);
    create(roots.get(0));
    try (ApplicationLease lease =
        new ApplicationLease(store, roots, Duration.ofDays(1), Optional.empty())) {
      for (int i = 0; i < 10; i++) {
        long before = store.lookup(roots.get(0)).get().getAttributes().accessTime();
        assertEquals(0, cleanDuring(LEASE.minusSeconds(4)), "round " + i);
        do {
          lease.renew();
        } while (store.lookup(roots.get(0)).get().getAttributes().accessTime() == before);
      }
    }
    assertEquals(0, cleanDuring(LEASE.minusSeconds(4)));
    assertEquals(1, cleanDuring(LEASE));
  }

  /** What changes in a root is no sign of life: a late task may still write. */
  @Test
  void onlyARenewalCounts() throws Exception {
    String root = Roots.of("dead", LEASE, 1).get(0);
    create(root);
    cleaner.clean();
    create(root + "/late");
    assertEquals(1, cleanDuring(LEASE));
  }

  /** While no one could look, perhaps no one could renew either. */
  @Test
  void timeWithoutALookHardlyCounts() throws Exception {
    String root = Roots.of("alive", LEASE, 1).get(0);
    create(root);
    cleaner.clean();
    assertEquals(0, cleanAfter(LEASE.multipliedBy(100)));
    assertEquals(0, cleanAfter(LEASE.multipliedBy(100)));
    assertNotNull(store.lookup(root).get());
  }

  @Test
  void aNamenodeThatIsGoneDoesNotKeepTheOthersFromRenewals() throws Exception {
    List<String> roots = Roots.of("alive", LEASE, 2);
    for (String root : roots) {
      create(root);
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, 1L)).get();
    }
    try (CrailStore half = halfStore();
        ApplicationLease lease =
            new ApplicationLease(half, roots, Duration.ofDays(1), Optional.empty())) {
      assertThrows(ExecutionException.class, lease::renew);
    }
    long renewed = 0;
    for (String root : roots) {
      renewed += store.lookup(root).get().getAttributes().accessTime() > 1 ? 1 : 0;
    }
    assertTrue(renewed > 0 && renewed < roots.size(), "renewed " + renewed);
  }

  @Test
  void aNamenodeThatIsGoneDoesNotKeepTheOthersFromBeingCleaned() throws Exception {
    List<String> roots = Roots.of("dead", LEASE, 2);
    for (String root : roots) {
      create(root);
    }
    try (CrailStore half = halfStore()) {
      cleaner = new RootCleaner(half, now::get);
      for (int i = 0; i < 5; i++) {
        assertThrows(UncheckedIOException.class, () -> cleanAfter(LEASE.dividedBy(4)));
      }
    }
    int left = 0;
    for (String root : roots) {
      left += store.lookup(root).get() == null ? 0 : 1;
    }
    assertTrue(left > 0 && left < roots.size(), "left " + left);
  }

  /** Else it would keep the thread that renews the lease of the application that cleans. */
  @Test
  @Tag("once")
  void rootsAtANamenodeThatFallsSilentCostOneDeadline() throws Exception {
    List<String> roots = Roots.of("dead", LEASE, 2);
    for (String root : roots) {
      create(root);
    }
    int second = cluster.namenodeAddresses().get(1).getPort();
    try (Valve valve = new Valve(cluster.namenodeAddresses().get(0));
        CrailStore through = store(valve.address() + ",crail://127.0.0.1:" + second, "2s")) {
      cleaner = new RootCleaner(through, now::get);
      assertEquals(0, cleaner.clean());
      assertEquals(0, cleanDuring(LEASE.minusSeconds(4)));
      now.addAndGet(Duration.ofSeconds(4).toNanos());
      long begin = System.nanoTime();
      // The namenode has listed its roots when the first of them is looked at.
      assertThrows(
          ExecutionException.class,
          () ->
              cleaner.clean(
                  path -> {
                    valve.hold(true);
                    return true;
                  }));
      long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
      assertTrue(seconds < 6, "took " + seconds + " s");
    }
    for (String root : roots) {
      boolean isAtSecond = UnansweringNamenodes.namenodeOf(root, 2) == 1;
      assertTrue(!isAtSecond || store.lookup(root).get() == null, root);
    }
  }

  @Test
  void aCleanerThatWaitsForANamenodeDoesNotDelayRenewals() throws Exception {
    List<String> roots = Roots.of("alive", LEASE, 1);
    String root = roots.get(0);
    create(root);
    CountDownLatch waits = new CountDownLatch(1);
    ApplicationLease.Step cleaner =
        () -> {
          waits.countDown();
          new CountDownLatch(1).await();
        };
    try (ApplicationLease lease =
        new ApplicationLease(store, roots, Duration.ofMillis(40), Optional.of(cleaner))) {
      assertTrue(waits.await(60, TimeUnit.SECONDS));
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, 1L)).get();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (store.lookup(root).get().getAttributes().accessTime() == 1) {
        assertTrue(System.nanoTime() - deadline < 0, "no process renews");
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aWrongClockOfARenewerDoesNotMatter() throws Exception {
    String root = Roots.of("alive", LEASE, 1).get(0);
    create(root);
    for (long time : new long[] {0, Long.MAX_VALUE / 2, 5}) {
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, time)).get();
      assertEquals(0, cleanAfter(LEASE.plusSeconds(1)), "time " + time);
    }
  }

  @Test
  void thereIsNothingToRenewWithoutARoot() throws Exception {
    List<String> roots = Roots.of("none", LEASE, 1);
    try (ApplicationLease lease =
        new ApplicationLease(store, roots, Duration.ofDays(1), Optional.empty())) {
      assertDoesNotThrow(lease::renew);
    }
    assertNull(store.lookup(roots.get(0)).get());
  }
}
