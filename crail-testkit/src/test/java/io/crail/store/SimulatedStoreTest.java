/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeServer;
import io.crail.testkit.sim.SimulatedNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store on a network that breaks, in virtual time and without a thread of its own. */
@Tag("once")
class SimulatedStoreTest {
  private static final int PORT = 9060;

  private final long seed = Bytes.seed("simulated store");
  private final SimulatedNetwork network = new SimulatedNetwork(seed);
  private NameNodeServer namenode;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    Configuration configuration =
        Configuration.builder()
            .set("crail.namenode.address", "crail://namenode:" + PORT, "test")
            .set("crail.client.host", "client", "test")
            .set("crail.client.loops", "1", "test")
            .set("crail.rpctimeout", "10s", "test")
            .build();
    namenode =
        NameNodeServer.start(
            configuration,
            0,
            1,
            InetSocketAddress.createUnresolved("namenode", PORT),
            network.transport("namenode"),
            network.clock());
    store = CoreStore.open(configuration, network.transport("client"), network.clock());
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    namenode.close();
  }

  private Upcoming<CrailNode> create(String path) throws Exception {
    return store.create(
        path, CrailNodeType.DIRECTORY, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  /** Null after a success. */
  private static ErrorCode outcome(Upcoming<?> upcoming) throws InterruptedException {
    try {
      upcoming.get();
      return null;
    } catch (ExecutionException e) {
      return assertInstanceOf(CrailException.class, e.getCause()).code();
    }
  }

  @Test
  void hasNoThreadOfItsOwn() throws Exception {
    Set<Thread> others = Thread.getAllStackTraces().keySet();
    assertEquals(null, outcome(create("/a")));
    assertEquals("/a", store.lookup("/a").get().getPath());
    assertTrue(
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> !others.contains(thread))
            .noneMatch(thread -> thread.getName().startsWith("crail-client")));
  }

  @Test
  void aDeadlineIsKeptInVirtualTime() throws Exception {
    assertEquals(null, outcome(create("/a")));
    network.partition("client", "namenode");
    long start = network.clock().nanoTime();
    assertEquals(ErrorCode.TIMED_OUT, outcome(store.lookup("/a")));
    long seconds = TimeUnit.NANOSECONDS.toSeconds(network.clock().nanoTime() - start);
    assertTrue(seconds >= 9 && seconds <= 11, seconds + " s");
    network.heal("client", "namenode");
    assertEquals("/a", store.lookup("/a").get().getPath());
  }

  @Test
  void noOutcomeIsInDoubtWhenConnectionsBreak() throws Exception {
    Random random = new Random(seed);
    Set<String> model = new HashSet<>();
    network.breakConnections(0.02);
    network.latency(Duration.ofNanos(10_000), Duration.ofMillis(2));
    for (int i = 0; i < 3_000; i++) {
      String what = "seed " + seed + ", step " + i;
      String path = "/n" + random.nextInt(50);
      switch (random.nextInt(4)) {
        case 0:
          assertEquals(model.add(path) ? null : ErrorCode.NODE_EXISTS, outcome(create(path)), what);
          break;
        case 1:
          assertEquals(
              model.remove(path) ? null : ErrorCode.NODE_NOT_FOUND,
              outcome(store.delete(path, false)),
              what);
          break;
        case 2:
          String target = "/n" + random.nextInt(50);
          ErrorCode expected = null;
          if (!model.contains(path)) {
            expected = ErrorCode.NODE_NOT_FOUND;
          } else if (model.contains(target)) {
            expected = ErrorCode.NODE_EXISTS;
          } else {
            model.remove(path);
            model.add(target);
          }
          if (!path.equals(target)) {
            assertEquals(expected, outcome(store.rename(path, target)), what);
          }
          break;
        default:
          assertEquals(model.contains(path), store.lookup(path).get() != null, what);
      }
    }
    assertTrue(network.broken() > 20, network.broken() + " connections broke");
  }

  @Test
  void aClosedStoreRefuses() throws Exception {
    Upcoming<CrailNode> pending = store.lookup("/a");
    store.close();
    ExecutionException failed = assertThrows(ExecutionException.class, pending::get);
    assertEquals(ErrorCode.CLOSED, ((CrailException) failed.getCause()).code());
    assertThrows(CrailException.class, () -> store.lookup("/a"));
  }

  @Test
  void aCallbackThatClosesItsStoreIsRefusedAndTheStoreGoesOn() throws Exception {
    CompletableFuture<Void> closed =
        store
            .lookup("/a")
            .toCompletableFuture(Runnable::run)
            .thenAccept(
                node -> {
                  try {
                    store.close();
                  } catch (Exception e) {
                    throw new CompletionException(e);
                  }
                });
    while (!closed.isDone()) {
      network.runFor(Duration.ofMillis(1));
    }
    ExecutionException refused = assertThrows(ExecutionException.class, closed::get);
    assertInstanceOf(IllegalStateException.class, refused.getCause());
    assertEquals(null, outcome(create("/a")));
    store.close();
    assertThrows(ClosedException.class, () -> store.lookup("/a"));
  }
}
