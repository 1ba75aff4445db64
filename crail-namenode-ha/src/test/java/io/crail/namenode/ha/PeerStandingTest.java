/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.cluster.Lead;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the peers of a namenode say of themselves and of each other, with all that is real. */
@Timeout(300)
class PeerStandingTest extends PeersFixture {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private int made;

  private void makeDirectories(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      makeDirectory("/" + made++);
    }
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - begun < PATIENCE_NANOS, what);
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Waits until one of some peers says that it leads. */
  private int leader(List<Integer> among) throws InterruptedException {
    Predicate<Integer> leads = i -> peers[i].standing().leading().isPresent();
    await("no peer leads", () -> among.stream().anyMatch(leads));
    return among.stream().filter(leads).findFirst().orElseThrow();
  }

  private Lead.Peer seen(int leader, int peer) {
    return peers[leader].standing().leading().orElseThrow().peers().get(peer);
  }

  @Test
  void eachPeerSaysHowItStands() throws Exception {
    makeDirectories(20);
    int leader = leader(List.of(0, 1, 2));
    PeerStanding first = peers[leader].standing();
    assertEquals(leader, first.peer());
    assertEquals(leader, first.leader());
    assertTrue(first.following().isEmpty(), first::toString);
    assertTrue(first.takeOverNanos() > 0 && first.takeOverNanos() < PATIENCE_NANOS, "" + first);
    PeerStanding.Leading leading = first.leading().orElseThrow();
    assertTrue(leading.sentEntries() > 0 && leading.sentEntries() <= first.records(), "" + first);
    assertTrue(leading.sentBytes() > 20 * leading.sentEntries(), first::toString);
    await("it has a lease, as it is asked", () -> isLeased(leader));
    for (int i = 0; i < PEERS; i++) {
      int peer = i;
      await("all are up to date", () -> seen(leader, peer).behind() == 0);
      assertTrue(seen(leader, i).isReached());
      if (i != leader) {
        await("it has all", () -> isUpToDate(peer, leader));
        PeerStanding standby = peers[i].standing();
        assertEquals(leader, standby.leader());
        assertEquals(first.term(), standby.term());
        assertTrue(standby.elections() > 0, standby::toString);
        assertTrue(standby.leading().isEmpty(), standby::toString);
        assertTrue(standby.following().orElseThrow().silentNanos() < 30 * SECOND, "" + standby);
        assertEquals(-1, standby.takeOverNanos());
        assertEquals(standby.records(), standby.copy().orElseThrow().records());
      }
    }
  }

  private boolean isLeased(int leader) {
    try {
      store.lookup("/0").get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return peers[leader].standing().leading().orElseThrow().isLeased();
  }

  private boolean isUpToDate(int standby, int leader) {
    return peers[standby].standing().following().orElseThrow().behind() == 0
        && peers[standby].standing().records() == peers[leader].standing().records();
  }

  @Test
  void theLeaderKnowsWhoIsAwayAndWhatItLacks() throws Exception {
    makeDirectories(5);
    int leader = leader(List.of(0, 1, 2));
    int away = (leader + 1) % PEERS;
    await("it is there", () -> seen(leader, away).isReached() && seen(leader, away).behind() == 0);
    peers[away].close();
    makeDirectories(20);
    await("it is missed", () -> !seen(leader, away).isReached());
    Lead.Peer missed = seen(leader, away);
    assertTrue(missed.behind() > 0, missed::toString);
    assertTrue(missed.behindMillis() >= 1_000, missed::toString);
    assertTrue(missed.silentMillis() >= 3_000, missed::toString);
    int other = PEERS - leader - away;
    await("the other one has all", () -> seen(leader, other).behind() == 0);
    startPeer(away);
    await("it is back", () -> seen(leader, away).isReached() && seen(leader, away).behind() == 0);
  }

  @Test
  void aTakeOverIsSeen() throws Exception {
    makeDirectories(5);
    int first = leader(List.of(0, 1, 2));
    List<Integer> others = List.of((first + 1) % PEERS, (first + 2) % PEERS);
    long term = peers[first].standing().term();
    long[] elections = others.stream().mapToLong(i -> peers[i].standing().elections()).toArray();
    long begun = System.nanoTime();
    peers[first].close();
    makeDirectories(5);
    long took = System.nanoTime() - begun;
    int second = leader(others);
    PeerStanding standing = peers[second].standing();
    assertTrue(standing.term() > term, standing::toString);
    assertTrue(standing.takeOverNanos() > 0, standing::toString);
    // Its last entry came a little before the end.
    assertTrue(standing.takeOverNanos() < took + 2 * SECOND, standing + " in " + took);
    for (int i = 0; i < others.size(); i++) {
      int peer = others.get(i);
      long before = elections[i];
      await("it knows who leads", () -> peers[peer].standing().leader() == second);
      assertNotEquals(before, peers[peer].standing().elections());
    }
    startPeer(first);
    await("it is a standby", () -> peers[first].standing().leader() == second);
    assertTrue(peers[first].standing().leading().isEmpty());
  }
}
