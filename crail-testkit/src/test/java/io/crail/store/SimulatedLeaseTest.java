/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.SimulatedCluster.NAMENODE;
import static io.crail.store.SimulatedCluster.takeOver;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.common.error.WriteLeaseLostException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writers that hang, in virtual time: a store whose loops are not driven renews nothing. */
@Tag("once")
@Timeout(300) // Virtual time stands still while a store waits for a stream left open.
class SimulatedLeaseTest {
  private static final Duration LEASE = Duration.ofSeconds(10);

  private final long seed = Bytes.seed("simulated leases");
  private SimulatedCluster cluster;
  private CrailStore store;
  private CrailStore other;

  @BeforeEach
  void start() throws Exception {
    start(LEASE);
  }

  private void start(Duration lease) throws Exception {
    cluster =
        new SimulatedCluster(
            seed, "crail.rpctimeout=30s", "crail.lease=" + lease.toMillis() + "ms");
    store = cluster.newStore("client");
    other = cluster.newStore("other");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private CrailOutputStream takeOverFile() throws Exception {
    return takeOver(other.lookup("/f").get().asFile());
  }

  private static void assertLost(CrailOutputStream output) {
    assertThrows(WriteLeaseLostException.class, () -> output.write(Bytes.empty(0)));
    ExecutionException failed = assertThrows(ExecutionException.class, () -> output.sync().get());
    assertInstanceOf(WriteLeaseLostException.class, failed.getCause());
    assertThrows(WriteLeaseLostException.class, output::close);
  }

  /** Lets the store live while another one tries to write the file that it writes. */
  private void assertKept(CrailOutputStream output, Duration span) throws Exception {
    CrailFile elsewhere = other.lookup("/f").get().asFile();
    long end = cluster.nanoTime() + span.toNanos();
    while (cluster.nanoTime() - end < 0) {
      cluster.drive(store, LEASE.dividedBy(4));
      assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
    }
    output.write(Bytes.buffer(new byte[3])).get();
    output.close();
    assertEquals(3, other.lookup("/f").get().getCapacity());
    elsewhere.getDirectOutputStream(0).close();
  }

  @Test
  void aLeaseLastsAsLongAsItIsRenewed() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    assertKept(output, LEASE.multipliedBy(5));
  }

  @Test
  void aRenewalMayBeLostWithItsConnection() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    cluster.drive(store, LEASE.dividedBy(4));
    cluster.network().silence("client", NAMENODE);
    assertKept(output, LEASE.multipliedBy(2));
  }

  @Test
  void aRenewalMayBeLostThoughTheLeaseIsNotNew() throws Exception {
    CrailOutputStream busy = Bytes.createFile(store, "/busy").getDirectOutputStream(0);
    CrailFile file = Bytes.createFile(store, "/f");
    // The stream saves a request as long as half of the creator's lease is left.
    cluster.drive(store, LEASE.multipliedBy(48).dividedBy(100));
    CrailOutputStream output = file.getDirectOutputStream(0);
    cluster.network().silence("client", NAMENODE);
    assertKept(output, LEASE.multipliedBy(2));
    busy.close();
  }

  @Test
  void aWriterThatHungLongerThanItsLeaseHasLostIt() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    cluster.drive(store, LEASE);
    cluster.network().runFor(LEASE.multipliedBy(3));
    CrailOutputStream next = takeOverFile();
    // Its renewal succeeds, and comes too late.
    cluster.drive(store, LEASE.dividedBy(2));
    assertLost(output);
    next.sync().get();
    next.close();
  }

  @Test
  void aLaterLeaseAtTheSameNamenodeDoesNotReviveTheFirst() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    cluster.network().runFor(LEASE.multipliedBy(3));
    takeOverFile().close();
    CrailOutputStream later = Bytes.createFile(store, "/later").getDirectOutputStream(0);
    cluster.drive(store, LEASE.multipliedBy(2));
    assertLost(output);
    later.sync().get();
    later.close();
  }

  @Test
  void aRenewalThatArrivesTooLateIsNone() throws Exception {
    // So short that the connection is not taken for dead within it.
    cluster.close();
    Duration lease = Duration.ofSeconds(3);
    start(lease);
    CrailFile file = Bytes.createFile(store, "/f");
    cluster.drive(store, lease.multipliedBy(4).dividedBy(10));
    cluster.network().partition("client", NAMENODE);
    CrailOutputStream output = file.getDirectOutputStream(0);
    // The second renewal is sent in time, and held back until another lease has begun.
    var pending = store.lookup("/nothing");
    for (int i = 0; i < 62; i++) {
      pending.isDone();
      cluster.network().runFor(lease.dividedBy(100));
    }
    CrailOutputStream next = takeOverFile();
    cluster.network().heal("client", NAMENODE);
    pending.get();
    cluster.drive(store, lease.dividedBy(10));
    assertLost(output);
    next.close();
  }

  @Test
  void aRenewalInTimeWhoseAnswerIsLateIsNone() throws Exception {
    cluster.close();
    Duration lease = Duration.ofSeconds(3);
    start(lease);
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    // The store is not driven. Then a renewal reaches the namenode while the lease lasts, so that
    // no other writer gets it; the answer comes when the client must take it for lost.
    cluster.network().runFor(lease.multipliedBy(8).dividedBy(10));
    Duration way = lease.multipliedBy(15).dividedBy(100);
    cluster.network().latency(way, way);
    store.lookup("/nothing").get();
    cluster.network().latency(Duration.ofNanos(10_000), Duration.ofNanos(10_000));
    assertLost(output);
  }

  @Test
  void aWriterOfAReplacedKeyFailsAtItsNextRenewal() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    CrailOutputStream output =
        store
            .create(
                "/t/k",
                CrailNodeType.KEYVALUE,
                CrailStorageClass.PARENT,
                CrailLocationClass.PARENT,
                true)
            .get()
            .asKeyValue()
            .getDirectOutputStream(1 << 20);
    output.write(Bytes.buffer(new byte[10_000])).get();
    other.put("/t/k", Bytes.buffer(new byte[100])).get();
    long replaced = cluster.nanoTime();
    // It has all the space that it needs.
    ExecutionException told = null;
    CrailException refused = null;
    while (told == null && refused == null) {
      cluster.drive(store, LEASE.dividedBy(100));
      try {
        output.write(Bytes.buffer(new byte[100])).get();
      } catch (ExecutionException e) {
        told = e;
      } catch (CrailException e) {
        refused = e;
      }
    }
    assertInstanceOf(StaleNodeException.class, refused);
    Duration took = Duration.ofNanos(cluster.nanoTime() - replaced);
    assertTrue(took.compareTo(LEASE.dividedBy(3).plusMillis(500)) < 0, took.toString());
    assertThrows(StaleNodeException.class, output::close);
  }

  @Test
  void aSmallValueIsReadAsItWasForASecond() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    byte[] old = {1, 2, 3};
    other.put("/t/k", Bytes.buffer(old)).get();
    CrailFile soon = store.lookup("/t/k").get().asKeyValue();
    final CrailFile late = store.lookup("/t/k").get().asKeyValue();
    other.put("/t/k", Bytes.buffer(new byte[5])).get();
    cluster.network().runFor(Duration.ofMillis(500));
    assertArrayEquals(old, Bytes.read(soon));
    cluster.network().runFor(Duration.ofMillis(600));
    ExecutionException stale = assertThrows(ExecutionException.class, () -> Bytes.read(late));
    assertInstanceOf(StaleNodeException.class, stale.getCause());
  }

  @Test
  void aHandleThatIsUsedLateTakesItsLeaseAgain() throws Exception {
    CrailFile late = Bytes.createFile(store, "/late");
    CrailFile taken = Bytes.createFile(store, "/taken");
    cluster.network().runFor(LEASE.multipliedBy(3));
    CrailOutputStream output = takeOver(other.lookup("/taken").get().asFile());
    Bytes.append(late, new byte[7]);
    assertEquals(7, other.lookup("/late").get().getCapacity());
    assertThrows(WriteLeaseHeldException.class, () -> taken.getDirectOutputStream(0));
    output.close();
  }

  @Test
  void aSilentWriterLosesItsLeaseAndItsSpaceComesBack() throws Exception {
    int block = 1 << 20;
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(4 * block);
    output.write(Bytes.buffer(new byte[5_000])).get();
    output.sync().get();
    output.write(Bytes.buffer(new byte[2 * block])).get();
    assertTrue(cluster.usage().usedBytes() >= 2 * block);
    cluster.network().runFor(LEASE.multipliedBy(2));
    TestCluster.await("space of the silent writer", () -> cluster.usage().usedBytes() == block);
    WriteLeaseLostException lost =
        assertThrows(WriteLeaseLostException.class, () -> output.write(Bytes.buffer(new byte[1])));
    assertTrue(lost.getMessage().contains("/f"), lost.getMessage());
    assertEquals(5_000, other.lookup("/f").get().getCapacity());
    CrailOutputStream next = takeOverFile();
    next.write(Bytes.buffer(new byte[1])).get();
    next.close();
    assertThrows(WriteLeaseLostException.class, output::close);
    assertEquals(5_001, other.lookup("/f").get().getCapacity());
    // Longer than freed space rests.
    cluster.network().runFor(LEASE);
    TestCluster.await("no space waits", () -> cluster.usage().waitingBytes() == 0);
  }
}
