/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.namenode.Leadership;
import io.crail.protocol.cluster.Lead;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what becomes of peers that have lost their directories. */
@Timeout(300)
class LostPeersTest extends PeersFixture {
  private final Set<String> made = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicReference<Exception> failure = new AtomicReference<>();

  private void make(String prefix, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      makeDirectory(prefix + i);
      made.add(prefix + i);
    }
  }

  private Thread makeInBackground() {
    Thread maker =
        new Thread(
            () -> {
              try {
                for (int i = 0; !isOver.get(); i++) {
                  make("/load" + i + "-", 1);
                }
              } catch (Exception e) {
                failure.set(e);
              }
            });
    maker.start();
    return maker;
  }

  private void end(Thread maker) throws Exception {
    isOver.set(true);
    maker.join();
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private void requireAll() throws Exception {
    for (String path : made) {
      assertNotNull(store.lookup(path).get(), path);
    }
  }

  /** Waits until a peer has been let in, and may be getting what the others have. */
  private void awaitJoining(int peer) throws Exception {
    long begun = System.nanoTime();
    while (!Files.readString(entriesOf(peer).resolve("peer")).contains("started")) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "peer " + peer + " is not let in");
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @Test
  void aStandbyJoinsAnewUnderLoad() throws Exception {
    make("/before", 20);
    int leader = leader();
    int lost = (leader + 1) % PEERS;
    Thread maker = makeInBackground();
    peers[lost].close();
    lose(lost);
    startPeer(lost);
    awaitMember(lost);
    end(maker);
    Lead.Response report = leading().leadership().lead(new Lead.Request(Lead.NONE));
    assertEquals(PEERS, report.peers().size());
    moveLead(lost);
    requireAll();
    // It starts again as any other one, and counts: without it there is no majority.
    closeAll();
    startPeer(lost);
    startPeer(leader);
    make("/after", 10);
    startPeer(PEERS - lost - leader);
    requireAll();
    leading().verify();
    requireSameRecords();
  }

  private static boolean isShown(Leadership leadership, int lost) throws Exception {
    return leadership.lead(new Lead.Request(Lead.NONE)).peers().get(lost).isJoining();
  }

  /** The others have removed their first entries, so it gets files. The leader shows it. */
  @Test
  void aLeaderJoinsAnewWithFiles() throws Exception {
    closeAll();
    limits = new PeerLimits(64 << 10, 20, 10);
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
    make("/before", 600);
    int lost = leader();
    peers[lost].close();
    lose(lost);
    make("/without", 20);
    Leadership leadership = leading().leadership();
    startPeer(lost);
    long begun = System.nanoTime();
    while (!isShown(leadership, lost)) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it is not shown");
      TimeUnit.MILLISECONDS.sleep(1);
    }
    awaitMember(lost);
    while (isShown(leadership, lost)) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it is still shown");
      TimeUnit.MILLISECONDS.sleep(10);
    }
    moveLead(lost);
    requireAll();
    peers[lost].server().verify();
  }

  /** The one that runs lacks what the other two have agreed on, and must not be elected. */
  @Test
  void aPeerThatHasLostWhatItConfirmedDoesNotVote() throws Exception {
    make("/all", 5);
    leader();
    awaitAgreement();
    peers[0].close();
    make("/two", 5);
    peers[1].close();
    peers[2].close();
    lose(1);
    startPeer(0);
    startPeer(1);
    requireNoLeader();
    assertFalse(peers[1].isMember());
    startPeer(2);
    awaitMember(1);
    requireAll();
    requireSameRecords();
  }

  @Test
  void nothingIsServedWhenAMajorityHasLostItsDirectories() throws Exception {
    make("/all", 5);
    leader();
    awaitAgreement();
    closeAll();
    // The first one would begin if all were empty.
    lose(0);
    lose(1);
    for (int i = 0; i < PEERS; i++) {
      startPeer(i);
    }
    requireNoLeader();
    assertFalse(peers[0].isMember());
    assertFalse(peers[1].isMember());
    // Nor if the last one has only its copy left.
    peers[2].close();
    remove(entriesOf(2));
    startPeer(2);
    requireNoLeader();
    assertTrue(Files.exists(copyOf(2)));
  }

  @Test
  void theFirstStartWaitsForAllPeers() throws Exception {
    leader();
    closeAll();
    for (int i = 0; i < PEERS; i++) {
      lose(i);
    }
    startPeer(0);
    startPeer(1);
    requireNoLeader();
    startPeer(2);
    leader();
    make("/first", 3);
    // From then on a majority is enough.
    closeAll();
    startPeer(1);
    startPeer(2);
    requireAll();
  }

  @Test
  void aPeerThatEndsWhileItJoinsGoesOnLater() throws Exception {
    make("/before", 200);
    int lost = (leader() + 1) % PEERS;
    Thread maker = makeInBackground();
    // The first time it is lost again while it is taken in.
    for (int round = 0; round < 2; round++) {
      peers[lost].close();
      lose(lost);
      startPeer(lost);
      awaitJoining(lost);
      peers[lost].close();
      startPeer(lost);
      if (round > 0) {
        awaitMember(lost);
      }
    }
    end(maker);
    moveLead(lost);
    requireAll();
    requireSameRecords();
  }

  @Test
  void theLeaderEndsWhileAPeerJoins() throws Exception {
    make("/before", 200);
    int leader = leader();
    int lost = (leader + 1) % PEERS;
    Thread maker = makeInBackground();
    peers[lost].close();
    lose(lost);
    startPeer(lost);
    awaitJoining(lost);
    peers[leader].close();
    startPeer(leader);
    long begun = System.nanoTime();
    for (int waits = 0; !peers[lost].isMember(); waits++) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, "it does not join");
      // It ends if the leader has ended when it had all, and not the entry that takes it in.
      if (waits % 1_500 == 1_499) {
        peers[lost].close();
        startPeer(lost);
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
    end(maker);
    requireAll();
    requireSameRecords();
  }

  @Test
  void aCopyThatIsLostIsMadeAgain() throws Exception {
    make("/before", 50);
    int other = (leader() + 1) % PEERS;
    awaitAgreement();
    peers[other].close();
    remove(copyOf(other));
    startPeer(other);
    // It has lost nothing that it has confirmed, so it is the one that it was.
    assertFalse(Files.readString(entriesOf(other).resolve("peer")).contains("joins"));
    make("/after", 5);
    requireSameRecords();
  }

  @Test
  void aPeerThatHasOnlyItsCopyLeftJoinsAnew() throws Exception {
    make("/before", 50);
    int other = (leader() + 1) % PEERS;
    awaitAgreement();
    peers[other].close();
    remove(entriesOf(other));
    startPeer(other);
    assertFalse(peers[other].isMember());
    awaitMember(other);
    make("/after", 5);
    requireSameRecords();
  }

  /** The others know addresses from the time when a peer has begun, or was taken in. */
  @Test
  void aPeerAtAnotherAddressJoinsAnew() throws Exception {
    make("/before", 20);
    int moved = (leader() + 1) % PEERS;
    peers[moved].close();
    lose(moved);
    ports.set(moved, freePorts().get(0));
    for (int i = 0; i < PEERS; i++) {
      if (i != moved) {
        peers[i].close();
        startPeer(i);
        leader();
      }
    }
    startPeer(moved);
    awaitMember(moved);
    store.close();
    store = CrailStore.newInstance(CrailConfiguration.of(conf(0)));
    moveLead(moved);
    make("/after", 5);
    requireAll();
    requireSameRecords();
  }

  /** The name that others know it by would be used twice. */
  @Test
  void directoriesOfAnotherPeerAreRefused() throws Exception {
    make("/before", 5);
    int leader = leader();
    int other = (leader + 1) % PEERS;
    awaitAgreement();
    peers[other].close();
    lose(other);
    copy(copyOf(leader), copyOf(other));
    copy(entriesOf(leader), entriesOf(other));
    IOException refused = assertThrows(IOException.class, () -> startPeer(other));
    assertTrue(refused.getMessage().contains("is that of peer " + leader), refused.getMessage());
    lose(other);
    startPeer(other);
    awaitMember(other);
  }

  @Test
  void aPeerWithADamagedLogSaysWhatToDoAndJoinsAnew() throws Exception {
    make("/before", 100);
    int other = (leader() + 1) % PEERS;
    awaitAgreement();
    peers[other].close();
    Path log;
    try (Stream<Path> files = Files.walk(entriesOf(other))) {
      log =
          files
              .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
              .findFirst()
              .orElseThrow();
    }
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
      file.seek(300);
      int was = file.read();
      file.seek(300);
      file.write(was ^ 1);
    }
    IOException refused = assertThrows(IOException.class, () -> startPeer(other));
    assertTrue(refused.getMessage().contains("is damaged at byte"), refused.getMessage());
    String what = "move " + copyOf(other) + " and " + entriesOf(other) + " away";
    assertTrue(refused.getMessage().contains(what), refused.getMessage());
    lose(other);
    startPeer(other);
    awaitMember(other);
    make("/after", 5);
    requireSameRecords();
  }
}
