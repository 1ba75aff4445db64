/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.compound.CompoundOperation;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Valve;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.system.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A look at a root by its path would renew its lease, so the tests list them. */
class ApplicationLeaseTest {
  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofDays(1);

  private final Lines lines = new Lines();
  private final Logger log = (Logger) LogManager.getLogger(ApplicationLease.class);
  private EmbeddedCrail cluster;
  private CrailStore store;

  private static final class Lines extends AbstractAppender {
    private final List<String> logged = new CopyOnWriteArrayList<>();

    Lines() {
      super("lines", null, null, false, Property.EMPTY_ARRAY);
      start();
    }

    @Override
    public void append(LogEvent event) {
      logged.add(event.getMessage().getFormattedMessage());
    }
  }

  @BeforeEach
  void start() throws Exception {
    log.addAppender(lines);
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterEach
  void stop() throws Exception {
    log.removeAppender(lines);
    store.close();
    cluster.close();
  }

  private static OutputPlace place(CrailStore store, String application, Duration lease) {
    return new OutputPlace(
        store,
        Roots.of(application, 2),
        CrailStorageClass.DEFAULT,
        CrailLocationClass.DEFAULT,
        lease);
  }

  /** When the lease of each root of an application was renewed. */
  private Map<String, Long> roots(String application) throws Exception {
    Map<String, Long> roots = new TreeMap<>();
    Iterator<CrailNode> children = store.lookup("/").get().asContainer().listStatus();
    while (children.hasNext()) {
      CrailNode node = children.next();
      if (Roots.applicationOf(node.getPath()).filter(application::equals).isPresent()) {
        roots.put(node.getPath(), node.getAttributes().accessTime());
      }
    }
    return roots;
  }

  /** A store where no server listens at the second namenode's address. */
  private CrailStore half() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return through("crail://127.0.0.1:" + socket.getLocalPort(), "500ms");
    }
  }

  private CrailStore through(String second, String timeout) throws Exception {
    String first = "crail://127.0.0.1:" + cluster.namenodeAddresses().get(0).getPort();
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration().toBuilder()
                .set("crail.rpctimeout", timeout, "the test")
                .set("crail.namenode.address", first + "," + second, "the test")
                .build()));
  }

  @Test
  void allNamenodesEndWhatNoProcessRenews() throws Exception {
    place(store, "alive", SHORT).createRoots();
    place(store, "dead", SHORT).createRoots();
    place(store, "dead", SHORT).createShuffle(3);
    assertEquals(8, roots("dead").size());
    try (ApplicationLease lease = new ApplicationLease(place(store, "alive", SHORT))) {
      Eventually.holds("the end of one", () -> roots("dead").isEmpty());
      // The next one begins later, so the first has been renewed several times when it ends.
      place(store, "next", SHORT).createRoots();
      Eventually.holds("the end of the next", () -> roots("next").isEmpty());
      assertEquals(8, roots("alive").size());
    }
    Eventually.holds("the end of the last", () -> roots("alive").isEmpty());
    assertEquals(List.of(), lines.logged);
  }

  /** The plugin makes those of broadcast values alone, one by one. */
  @Test
  void aRootThatIsMadeLaterHasALeaseToo() throws Exception {
    OutputPlace place = place(store, "a", LONG);
    String root = place.roots().get(3);
    place.create(root + "/broadcast/7").getBufferedOutputStream(0).close();
    CompoundOperation read = CompoundOperation.builder().readLifetime().build();
    long left = store.operate(root, read).get().orThrow().number(0);
    assertEquals(LONG.toMillis(), left);
  }

  @Test
  void thereIsNothingToRenewWithoutARoot() throws Exception {
    assertEquals(List.of(), place(store, "none", LONG).renewRoots(LONG));
    assertEquals(Map.of(), roots("none"));
  }

  @Test
  void aNamenodeThatIsGoneDoesNotKeepTheOthersFromRenewals() throws Exception {
    place(store, "alive", LONG).createRoots();
    Map<String, Long> made = roots("alive");
    try (CrailStore half = half();
        ApplicationLease lease = new ApplicationLease(place(half, "alive", SHORT))) {
      // It goes on after it has failed.
      for (int i = 0; i < 2; i++) {
        Map<String, Long> before = roots("alive");
        Eventually.holds(
            "a renewal",
            () -> {
              Map<String, Long> now = roots("alive");
              return before.entrySet().stream()
                  .anyMatch(each -> !each.getValue().equals(now.get(each.getKey())));
            });
      }
      assertThrows(IOException.class, () -> place(half, "alive", LONG).renewRoots(LONG));
    }
    Map<String, Long> renewed = roots("alive");
    renewed.entrySet().removeAll(made.entrySet());
    assertEquals(4, renewed.size(), "at the one that answers");
    String first = Roots.of("alive", 2).get(0);
    assertEquals(List.of("cannot renew the lease of " + first + "; trying again"), lines.logged);
  }

  @Test
  void rootsThatAreGoneAreNamed() throws Exception {
    OutputPlace place = place(store, "a", SHORT);
    place.createRoots();
    try (ApplicationLease lease = new ApplicationLease(place)) {
      Map<String, Long> made = roots("a");
      String last = place.roots().get(7);
      Eventually.holds(
          "a renewal", () -> !roots("a").getOrDefault(last, 0L).equals(made.get(last)));
      store.delete(last, true).get();
      Eventually.holds("a line", () -> !lines.logged.isEmpty());
      assertTrue(
          lines.logged.get(0).startsWith("[" + last + "] are gone: "), lines.logged::toString);
    }
    assertEquals(1, lines.logged.size(), lines.logged::toString);
  }

  @Test
  @Tag("once")
  void aRenewalThatTheEndInterruptsIsNoFailure() throws Exception {
    place(store, "a", LONG).createRoots();
    try (Valve valve = new Valve(cluster.namenodeAddresses().get(1));
        CrailStore slow = through(valve.address(), "60s");
        // A renewal waits for a quarter of it.
        ApplicationLease lease = new ApplicationLease(place(slow, "a", SHORT.multipliedBy(4)))) {
      Map<String, Long> made = roots("a");
      Eventually.holds("a renewal", () -> !roots("a").equals(made));
      valve.hold(true);
      Eventually.holds("one that waits", ApplicationLeaseTest::isRenewing);
    }
    assertEquals(List.of(), lines.logged);
  }

  private static boolean isRenewing() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(each -> each.getKey().getName().equals("crail-spark-lease"))
        .flatMap(each -> Arrays.stream(each.getValue()))
        .anyMatch(frame -> frame.getMethodName().equals("renewRoots"));
  }
}
