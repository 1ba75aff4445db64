/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.namenode.NameNodeServer;
import io.crail.testkit.sim.SimulatedNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Write leases that no stream uses and how they come back, with each answer held until the race is
 * lost. The lease is longer than any test, so that none comes back by time.
 */
@Tag("once")
class SimulatedCreatorLeaseTest {
  private static final int PORT = 9060;

  /** Leases that a store keeps. */
  private static final int KEPT = 256;

  private static final Duration PROMPT = Duration.ofMillis(1);
  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final Duration RPC_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LEASE = Duration.ofSeconds(60);

  private SimulatedNetwork network;
  private CrailStore store;
  private CrailStore other;

  private interface Body {
    void run() throws Exception;
  }

  private void simulate(Body body) throws Exception {
    LoopSwitch.run(
        () -> {
          network = new SimulatedNetwork(Bytes.seed("creator leases"));
          latency(PROMPT);
          Configuration configuration =
              Configuration.builder()
                  .set("crail.namenode.address", "crail://namenode:" + PORT, "test")
                  .set("crail.client.host", "client", "test")
                  .set("crail.client.loops", "3", "test")
                  .set("crail.rpctimeout", RPC_TIMEOUT.toMillis() + "ms", "test")
                  .set("crail.lease", LEASE.toMillis() + "ms", "test")
                  .build();
          NameNodeServer namenode =
              NameNodeServer.start(
                  configuration,
                  0,
                  1,
                  InetSocketAddress.createUnresolved("namenode", PORT),
                  network.transport("namenode"),
                  network.clock());
          store = CoreStore.open(configuration, network.transport("client"), network.clock());
          other = CoreStore.open(configuration, network.transport("other"), network.clock());
          for (int loop = 2; loop >= 0; loop--) {
            LoopSwitch.to(loop);
            store.lookup("/nothing").get();
            other.lookup("/nothing").get();
          }
          try {
            body.run();
          } finally {
            store.close();
            other.close();
            namenode.close();
          }
          return null;
        });
  }

  /** Sets how long what is sent from now on is under way. */
  private void latency(Duration exactly) {
    network.latency(exactly, exactly);
  }

  private Upcoming<CrailNode> create(String path) throws Exception {
    return store.create(
        path, CrailNodeType.DATAFILE, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true);
  }

  /** Sends a create whose answer takes long. */
  private Upcoming<CrailNode> createAnsweredLate(String path) throws Exception {
    Upcoming<CrailNode> created = create(path);
    latency(SLOW);
    network.runFor(PROMPT.multipliedBy(2));
    latency(PROMPT);
    return created;
  }

  /** Makes the store give back the leases of all it has created before. */
  private void pushOut() throws Exception {
    for (int i = 0; i < KEPT; i++) {
      createFile(store, "/pushes" + i);
    }
  }

  /** Creates a file whose lease is on its way back, for long. */
  private CrailFile createGivenBackLate(String path) throws Exception {
    LoopSwitch.to(0);
    CrailFile file = createFile(store, path);
    LoopSwitch.to(1);
    for (int i = 1; i < KEPT; i++) {
      createFile(store, "/pushes" + i);
    }
    latency(SLOW);
    create("/pushes");
    latency(PROMPT);
    LoopSwitch.to(2);
    assertEquals(0, file.getToken());
    return file;
  }

  private CrailFile lookup(CrailStore by, String path) throws Exception {
    return by.lookup(path).get().asFile();
  }

  private static void openAndClose(CrailFile file) throws Exception {
    file.getDirectOutputStream(0).close();
  }

  private long now() {
    return network.clock().nanoTime();
  }

  /** The namenode's own thread sees in real time that a lease has run out. */
  private static void openOnceFree(CrailFile file) throws Exception {
    TestCluster.await(
        "the lease ends",
        () -> {
          try {
            openAndClose(file);
            return true;
          } catch (WriteLeaseHeldException e) {
            return false;
          }
        });
  }

  /** Lets a lease that is not renewed run out. */
  private void passALease() throws Exception {
    long end = now() + LEASE.toNanos();
    while (now() - end < 0) {
      store.lookup("/nothing").get();
      network.runFor(Duration.ofMillis(100));
    }
  }

  /** Holds what is under way between the client and the namenode until its deadline has passed. */
  private void partition() {
    network.partition("client", "namenode");
  }

  private void heal() throws Exception {
    network.heal("client", "namenode");
    network.runFor(SLOW);
  }

  @Test
  void manyCreatesInFlightLeaveNoLeaseBehind() throws Exception {
    simulate(
        () -> {
          List<Upcoming<CrailNode>> created = new ArrayList<>();
          for (int i = 0; i < 3 * KEPT; i++) {
            created.add(create("/f" + i));
          }
          for (Upcoming<CrailNode> each : created) {
            each.get();
          }
          network.runFor(SLOW);
          int held = 0;
          for (int i = 0; i < created.size(); i++) {
            try {
              openAndClose(lookup(other, "/f" + i));
              assertEquals(0, created.get(i).get().asFile().getToken());
            } catch (WriteLeaseHeldException e) {
              held++;
            }
          }
          assertEquals(KEPT, held);
        });
  }

  @Test
  void aFailedCreateHasNothingToGiveBack() throws Exception {
    simulate(
        () -> {
          createFile(store, "/f");
          List<Upcoming<CrailNode>> failing = new ArrayList<>();
          for (int i = 0; i < 2 * KEPT; i++) {
            failing.add(create("/f"));
          }
          for (Upcoming<CrailNode> each : failing) {
            assertThrows(ExecutionException.class, each::get);
          }
          openAndClose(lookup(store, "/f"));
          openAndClose(lookup(other, "/f"));
        });
  }

  @Test
  void aStreamOfTheHandleWaitsForTheLeaseOnItsWayBack() throws Exception {
    simulate(
        () -> {
          CrailFile file = createGivenBackLate("/f");
          long start = now();
          CrailOutputStream output = file.getDirectOutputStream(0);
          assertTrue(now() - start >= SLOW.toNanos());
          assertNotEquals(0, file.getToken());
          CrailFile elsewhere = lookup(other, "/f");
          assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
          output.close();
          openAndClose(elsewhere);
        });
  }

  @Test
  void anotherHandleWaitsForTheLeaseOnItsWayBack() throws Exception {
    simulate(
        () -> {
          createGivenBackLate("/f");
          CrailFile second = lookup(store, "/f");
          long start = now();
          openAndClose(second);
          assertTrue(now() - start >= SLOW.toNanos());
        });
  }

  @Test
  void anotherHandleWaitsForTheAnswerOfTheCreate() throws Exception {
    simulate(
        () -> {
          LoopSwitch.to(0);
          Upcoming<CrailNode> created = createAnsweredLate("/f");
          LoopSwitch.to(1);
          CrailFile second = lookup(store, "/f");
          long start = now();
          openAndClose(second);
          assertTrue(now() - start >= SLOW.toNanos());
          openAndClose(created.get().asFile());
        });
  }

  @Test
  void anotherHandleFindsAnUnansweredCreateThatWasPushedOut() throws Exception {
    simulate(
        () -> {
          LoopSwitch.to(0);
          createAnsweredLate("/f");
          LoopSwitch.to(1);
          pushOut();
          openAndClose(lookup(store, "/f"));
        });
  }

  @Test
  void aRefusalThatIsOlderThanTheLeasesReturnIsNone() throws Exception {
    simulate(
        () -> {
          LoopSwitch.to(0);
          CrailFile file = createFile(store, "/f");
          LoopSwitch.to(1);
          for (int i = 1; i < KEPT; i++) {
            createFile(store, "/pushes" + i);
          }
          final CrailFile second = lookup(store, "/f");
          // The lease arrives later than the request for it, which is refused; and the refusal
          // arrives later than the answer of the lease's return.
          latency(PROMPT.multipliedBy(10));
          create("/pushes");
          assertEquals(0, file.getToken());
          latency(PROMPT);
          network.schedule(PROMPT.dividedBy(2), () -> latency(SLOW));
          network.schedule(PROMPT.multipliedBy(5), () -> latency(PROMPT));
          LoopSwitch.to(2);
          openAndClose(second);
        });
  }

  @Test
  void aStoreThatClosesGivesBackWhatItKept() throws Exception {
    simulate(
        () -> {
          createFile(store, "/f");
          CrailFile elsewhere = lookup(other, "/f");
          assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
          store.close();
          openAndClose(elsewhere);
        });
  }

  @Test
  void aLeaseWhoseReturnHadNoAnswerRunsOutWhateverIsRenewed() throws Exception {
    simulate(
        () -> {
          final CrailOutputStream renewed = createFile(store, "/renewed").getDirectOutputStream(0);
          createFile(store, "/f");
          for (int i = 1; i < KEPT; i++) {
            createFile(store, "/pushes" + i);
          }
          partition();
          // Pushes the file out.
          assertThrows(ExecutionException.class, () -> create("/pushes").get());
          network.runFor(RPC_TIMEOUT.multipliedBy(2));
          // What was on the old connections does not arrive any more.
          network.cut("client", "namenode");
          heal();
          CrailFile elsewhere = lookup(other, "/f");
          assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
          passALease();
          openOnceFree(elsewhere);
          renewed.close();
        });
  }

  @Test
  void anUnansweredCloseBlocksOtherWritersForALeaseAtMost() throws Exception {
    simulate(
        () -> {
          CrailFile file = createFile(store, "/f");
          CrailOutputStream output = file.getDirectOutputStream(0);
          partition();
          assertThrows(CrailTimeoutException.class, output::close);
          network.cut("client", "namenode");
          heal();
          CrailFile second = lookup(store, "/f");
          assertEquals(0, file.getToken());
          passALease();
          openOnceFree(file);
          openAndClose(second);
        });
  }

  @Test
  void anUnansweredOpenBlocksOtherWritersForALeaseAtMost() throws Exception {
    simulate(
        () -> {
          createFile(other, "/f");
          openAndClose(lookup(other, "/f"));
          CrailFile file = lookup(store, "/f");
          CrailFile second = lookup(store, "/f");
          // The request arrives, its answer does not.
          network.schedule(PROMPT.multipliedBy(3).dividedBy(2), this::partition);
          assertThrows(CrailTimeoutException.class, () -> file.getDirectOutputStream(0));
          network.cut("client", "namenode");
          heal();
          CrailFile elsewhere = lookup(other, "/f");
          assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
          passALease();
          openOnceFree(second);
          openAndClose(file);
          openAndClose(elsewhere);
        });
  }

  @Test
  void anUnansweredCreateBlocksOtherWritersForALeaseAtMost() throws Exception {
    simulate(
        () -> {
          Upcoming<CrailNode> created = create("/f");
          network.runFor(PROMPT.multipliedBy(3).dividedBy(2));
          partition();
          ExecutionException failed = assertThrows(ExecutionException.class, created::get);
          assertInstanceOf(CrailTimeoutException.class, failed.getCause());
          network.cut("client", "namenode");
          heal();
          passALease();
          openOnceFree(lookup(store, "/f"));
          openAndClose(lookup(other, "/f"));
        });
  }

  @Test
  void theLeaseOfAStreamIsNotGivenBackForAnotherHandle() throws Exception {
    simulate(
        () -> {
          CrailOutputStream output = createFile(store, "/f").getDirectOutputStream(0);
          pushOut();
          CrailFile second = lookup(store, "/f");
          assertThrows(WriteLeaseHeldException.class, () -> second.getDirectOutputStream(0));
          output.sync().get();
          output.close();
          openAndClose(second);
        });
  }

  private static boolean succeeds(Upcoming<?> deleted) throws InterruptedException {
    try {
      deleted.get();
      return true;
    } catch (ExecutionException e) {
      assertInstanceOf(NodeNotFoundException.class, e.getCause());
      return false;
    }
  }

  @Test
  void twoDeletesWaitForTheEndOfTheStream() throws Exception {
    simulate(
        () -> {
          CrailFile file = createFile(store, "/f");
          CrailOutputStream output = file.getDirectOutputStream(0);
          long start = now();
          latency(SLOW);
          Upcoming<CrailNode> first = store.delete("/f", false);
          latency(PROMPT);
          LoopSwitch.to(1);
          boolean secondWins = succeeds(store.delete("/f", false));
          assertTrue(now() - start >= SLOW.toNanos());
          assertNotEquals(secondWins, succeeds(first));
          output.close();
        });
  }

  @Test
  void theCloseOfAStreamWaitsForItsEndByTheStore() throws Exception {
    simulate(
        () -> {
          CrailFile file = createFile(store, "/f");
          CrailOutputStream output = file.getDirectOutputStream(0);
          latency(SLOW);
          Upcoming<CrailNode> deleted = store.delete("/f", false);
          while (!isEnded(output)) {
            deleted.isDone();
            network.runFor(PROMPT);
          }
          // The delete is answered, and the lease on its way back.
          assertFalse(deleted.isDone());
          long start = now();
          output.close();
          assertTrue(now() - start >= SLOW.toNanos());
          deleted.get();
        });
  }

  private static boolean isEnded(CrailOutputStream output) throws Exception {
    try {
      output.sync().get();
      return false;
    } catch (ExecutionException e) {
      assertInstanceOf(StaleNodeException.class, e.getCause());
      return true;
    }
  }
}
