/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how a namenode that has records gets standbys, and goes on without them again. */
@Timeout(300)
class LoneRecordsTest extends PeersFixture {
  private final List<String> made = new ArrayList<>();

  /** No peer starts yet. */
  @BeforeEach
  @Override
  void start() throws Exception {
    ports = freePorts();
    transport = TransportProvider.open(conf(0));
    store = CrailStore.newInstance(CrailConfiguration.of(conf(0)));
  }

  /** The configuration of a namenode without standbys, in the directory of a peer. */
  private Configuration alone(int peer, String durability) {
    return conf(peer).toBuilder()
        .set(
            ClusterKeys.NAMENODE_ADDRESS.name(), "crail://127.0.0.1:" + ports.get(peer), "the test")
        .set(NameNodeKeys.DURABILITY, durability)
        // So that there are snapshots too.
        .set(NameNodeKeys.SNAPSHOT_RECORDS, "1000")
        .build();
  }

  private NameNodeServer startAlone(int peer, String durability) throws IOException {
    return NameNodeServer.start(
        alone(peer, durability), 0, 1, address(peer), transport, Clock.SYSTEM);
  }

  private void make(CrailStore in, String prefix, int count) throws Exception {
    CrailStore before = store;
    store = in;
    for (int i = 0; i < count; i++) {
      makeDirectory(prefix + i);
      made.add(prefix + i);
    }
    store = before;
  }

  private static void require(CrailStore in, List<String> paths) throws Exception {
    for (String path : paths) {
      assertNotNull(in.lookup(path).get(), path);
    }
  }

  /** Lets a namenode without standbys make some directories. Returns which start of it that was. */
  private long runAlone(int peer, String prefix, int count) throws Exception {
    try (NameNodeServer lone = startAlone(peer, "sync");
        CrailStore of = CrailStore.newInstance(CrailConfiguration.of(alone(peer, "sync")))) {
      require(of, made);
      make(of, prefix, count);
      lone.verify();
      return incarnation(of);
    }
  }

  private static long incarnation(CrailStore of) throws Exception {
    of.lookup("/").get();
    return ((CoreStore) of).connections().namenodes().hello(0).incarnation();
  }

  private void startPeers() throws IOException {
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
  }

  private void awaitMembers() throws InterruptedException {
    for (int i = 0; i < PEERS; i++) {
      awaitMember(i);
    }
  }

  @Test
  void othersJoinThePeerThatHasTheRecords() throws Exception {
    final long incarnation = runAlone(1, "/alone", 1_200);
    startPeers();
    assertEquals(1, leader());
    require(store, made);
    // Clients keep what they have: it is still the same namenode.
    assertEquals(incarnation, incarnation(store));
    make(store, "/joining", 20);
    awaitMembers();
    moveLead(2);
    peers[1].close();
    make(store, "/after", 20);
    require(store, made);
    leading().verify();
    startPeer(1);
    long agreed = awaitAgreement();
    closeAll();
    // From now on a majority is enough.
    startPeer(0);
    startPeer(2);
    require(store, made);
    assertTrue(peers[leader()].last() >= agreed);
  }

  @Test
  void itGoesOnWhereItEndedBeforeTheOthersHaveJoined() throws Exception {
    runAlone(0, "/alone", 200);
    startPeers();
    leader();
    // The others may have joined, or not.
    closeAll();
    startPeer(0);
    startPeer(1);
    startPeer(2);
    awaitMembers();
    require(store, made);
    make(store, "/after", 5);
    moveLead(1);
    require(store, made);
    peers[1].server().verify();
  }

  @Test
  void nothingBeginsUnlessAllOthersAreThereAndHaveNothing() throws Exception {
    runAlone(2, "/other", 5);
    made.clear();
    runAlone(0, "/alone", 5);
    startPeer(0);
    startPeer(1);
    requireNoLeader();
    startPeer(2);
    requireNoLeader();
    assertTrue(Files.exists(copyOf(2)));
    closeAll();
    // Nothing has been begun, so each can still serve alone.
    runAlone(0, "/again", 5);
    lose(2);
    startPeers();
    assertEquals(0, leader());
    require(store, made);
  }

  @Test
  void recordsOfAnotherNamenodeAreKept() throws Exception {
    startPeers();
    int other = (leader() + 1) % PEERS;
    make(store, "/peers", 5);
    final List<String> ofPeers = List.copyOf(made);
    peers[other].close();
    lose(other);
    made.clear();
    runAlone(other, "/other", 5);
    startPeer(other);
    TimeUnit.SECONDS.sleep(3);
    assertFalse(peers[other].isMember());
    require(store, ofPeers);
    peers[other].close();
    runAlone(other, "/still", 1);
    lose(other);
    startPeer(other);
    awaitMember(other);
  }

  @Test
  void recordsWrittenAfterAnswersAreRefused() throws Exception {
    startAlone(0, "async").close();
    IOException refused = assertThrows(IOException.class, () -> startPeer(0));
    assertTrue(refused.getMessage().contains("async"), refused.getMessage());
    runAlone(0, "/sync", 1);
    startPeers();
    assertEquals(0, leader());
  }

  @Test
  void aPeerGoesOnWithoutTheOthersAndGetsThemAgain() throws Exception {
    startPeers();
    make(store, "/peers", 20);
    final long incarnation = incarnation(store);
    int leader = leader();
    for (int i = 0; i < PEERS; i++) {
      if (i != leader) {
        peers[i].close();
      }
    }
    peers[leader].close();
    IOException refused = assertThrows(IOException.class, () -> startAlone(leader, "sync"));
    assertTrue(refused.getMessage().contains(entriesOf(leader).toString()), refused.getMessage());
    remove(entriesOf(leader));
    assertEquals(incarnation, runAlone(leader, "/alone", 20));
    for (int i = 0; i < PEERS; i++) {
      if (i != leader) {
        lose(i);
      }
    }
    startPeers();
    assertEquals(leader, leader());
    awaitMembers();
    require(store, made);
    assertEquals(incarnation, incarnation(store));
  }

  /** As from the disk of a host that lost its power, while the others are gone. */
  @Test
  void aCopyThatWasNotEndedInOrderMayLackTheLastChanges() throws Exception {
    startPeers();
    make(store, "/peers", 5);
    leader();
    awaitAgreement();
    final long incarnation = incarnation(store);
    int gone = (leader() + 1) % PEERS;
    peers[gone].close();
    lose(gone);
    copy(copyOf(leader()), copyOf(gone));
    closeAll();
    made.clear();
    long next = runAlone(gone, "/alone", 5);
    assertNotEquals(incarnation, next);
    // From then on it has all that it has acknowledged.
    assertEquals(next, runAlone(gone, "/again", 5));
  }
}
