/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Clock;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.conf.CrailConfiguration;
import io.crail.namenode.Leadership;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.Lead;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the peers of a namenode in one process, with their real protocol and real files. */
@Timeout(300)
class PeersTest extends PeersFixture {
  @Test
  void anotherPeerTakesOverWithAllThatWasAcknowledged() throws Exception {
    for (int i = 0; i < 20; i++) {
      makeDirectory("/before" + i);
    }
    int first = leader();
    peers[first].close();
    for (int i = 0; i < 20; i++) {
      assertNotNull(store.lookup("/before" + i).get(), "/before" + i);
      makeDirectory("/after" + i);
    }
    int second = leader();
    assertNotEquals(first, second);
    peers[second].server().verify();
    startPeer(first);
    awaitAgreement();
    peers[second].close();
    for (int i = 0; i < 20; i++) {
      assertNotNull(store.lookup("/before" + i).get(), "/before" + i);
      assertNotNull(store.lookup("/after" + i).get(), "/after" + i);
    }
    leading().verify();
    startPeer(second);
  }

  /** All peers end, so the copies are all that is left. */
  @Test
  void allPeersHaveTheSameRecords() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    Set<String> made = ConcurrentHashMap.newKeySet();
    List<Thread> makers = new ArrayList<>();
    List<Exception> failures = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      String prefix = "/t" + t + "-";
      Thread maker =
          new Thread(
              () -> {
                try {
                  for (int i = 0; !isOver.get(); i++) {
                    makeDirectory(prefix + i);
                    made.add(prefix + i);
                  }
                } catch (Exception e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      maker.start();
      makers.add(maker);
    }
    for (int round = 0; round < 2; round++) {
      int size = made.size();
      long begun = System.nanoTime();
      while (made.size() < size + 40 && System.nanoTime() - begun < PATIENCE_NANOS) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      int ended = leader();
      peers[ended].close();
      leader();
      startPeer(ended);
    }
    isOver.set(true);
    for (Thread maker : makers) {
      maker.join();
    }
    assertEquals(List.of(), failures);
    long agreed = awaitAgreement();
    for (String path : made) {
      assertNotNull(store.lookup(path).get(), path);
    }
    for (ReplicatedNamenode peer : peers) {
      peer.close();
    }
    requireSame(records(0), records(1), agreed);
    requireSame(records(0), records(2), agreed);
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
    for (String path : made) {
      assertNotNull(store.lookup(path).get(), path);
    }
  }

  /** The others have removed the entries that it would need. */
  @Test
  void aPeerThatWasAwayForLongGetsFiles() throws Exception {
    for (ReplicatedNamenode peer : peers) {
      peer.close();
    }
    limits = new PeerLimits(64 << 10, 20, 10);
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
    for (int i = 0; i < 50; i++) {
      makeDirectory("/before" + i);
    }
    int away = (leader() + 1) % PEERS;
    peers[away].close();
    for (int i = 0; i < 1_000; i++) {
      makeDirectory("/without" + i);
    }
    awaitPurge(leader());
    startPeer(away);
    awaitAgreement();
    int leader = leader();
    int other = PEERS - leader - away;
    if (leader != away) {
      peers[other].close();
      peers[leader].close();
      startPeer(other);
      // Only these two are left, so what is there was sent to the one, or is at both.
      assertNotNull(store.lookup("/before7").get());
      assertNotNull(store.lookup("/without999").get());
      startPeer(leader);
    }
    awaitAgreement();
    leading().verify();
  }

  private static boolean isFirst(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith("log_0-") || name.equals("log_inprogress_0");
  }

  /** Waits until a peer has removed its first entries. */
  private void awaitPurge(int peer) throws Exception {
    Path entries = directory.resolve("peer-" + peer).resolve("namenode-0-peers");
    long begun = System.nanoTime();
    for (int i = 0; ; i++) {
      try (Stream<Path> files = Files.walk(entries)) {
        if (files.noneMatch(PeersTest::isFirst)) {
          return;
        }
      } catch (UncheckedIOException e) {
        // A file was removed.
      }
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "nothing is removed");
      makeDirectory("/more" + i);
    }
  }

  @Test
  void theLeadMovesWithoutAnError() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    List<Exception> failures = new ArrayList<>();
    Thread maker =
        new Thread(
            () -> {
              try {
                for (int i = 0; !isOver.get(); i++) {
                  makeDirectory("/m" + i);
                }
              } catch (Exception e) {
                synchronized (failures) {
                  failures.add(e);
                }
              }
            });
    maker.start();
    for (int round = 0; round < 3; round++) {
      int from = leader();
      int to = (from + 1) % PEERS;
      Leadership leadership = peers[from].server().leadership();
      long begun = System.nanoTime();
      Lead.Response answer = leadership.lead(new Lead.Request(Lead.NONE));
      while (answer.peers().get(to).behind() < 0 || answer.peers().get(to).behind() > 100) {
        assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it is behind");
        TimeUnit.MILLISECONDS.sleep(1);
        answer = leadership.lead(new Lead.Request(Lead.NONE));
      }
      assertEquals(from, answer.peer());
      assertEquals(PEERS, answer.peers().size());
      leadership.lead(new Lead.Request(to));
      while (!peers[to].leads()) {
        assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it does not take over");
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }
    isOver.set(true);
    maker.join();
    assertEquals(List.of(), failures);
    assertThrows(CrailException.class, () -> leading().leadership().lead(new Lead.Request(PEERS)));
  }

  /** What was not agreed on is gone, also from the memory of the peer that had made it. */
  @Test
  void aPeerThatLeadsNoMoreDropsWhatWasNotAgreedOn() throws Exception {
    makeDirectory("/a");
    int first = leader();
    for (int i = 0; i < PEERS; i++) {
      if (i != first) {
        peers[i].close();
      }
    }
    try (CrailStore hasty =
        CrailStore.newInstance(
            CrailConfiguration.of(
                conf(0).toBuilder().set(ClusterKeys.RPC_TIMEOUT, "3s").build()))) {
      assertThrows(
          ExecutionException.class,
          () ->
              hasty
                  .create(
                      "/b",
                      CrailNodeType.DIRECTORY,
                      CrailStorageClass.DEFAULT,
                      CrailLocationClass.DEFAULT,
                      false)
                  .get());
    }
    long begun = System.nanoTime();
    while (peers[first].leads()) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it leads without a majority");
      TimeUnit.MILLISECONDS.sleep(10);
    }
    peers[first].close();
    for (int i = 0; i < PEERS; i++) {
      if (i != first) {
        startPeer(i);
      }
    }
    assertNotNull(store.lookup("/a").get());
    assertNull(store.lookup("/b").get());
    startPeer(first);
    awaitAgreement();
    assertNull(store.lookup("/b").get());
  }

  @Test
  void peersNeedALog() {
    Configuration none = conf(0).toBuilder().set(NameNodeKeys.DURABILITY, "none").build();
    assertThrows(
        ConfigException.class,
        () ->
            ReplicatedNamenode.start(
                none, 0, 0, address(0), transport, Clock.SYSTEM, server -> {}));
  }
}
