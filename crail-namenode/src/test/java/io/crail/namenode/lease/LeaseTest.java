/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.lease;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.Place;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests write leases of 10 s. The test moves the clock. */
class LeaseTest {
  private static final Set<ErrorCode> EXPECTED =
      EnumSet.of(
          ErrorCode.WRITE_LEASE_LOST,
          ErrorCode.WRITE_LEASE_HELD,
          ErrorCode.NO_SPACE,
          ErrorCode.SPACE_TO_COME);

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(64L << 20);
  }

  private void pass(long millis) throws Exception {
    store.passAlive(millis, datanode);
  }

  private static RenewLeases.Lease lease(long id, long token) {
    return new RenewLeases.Lease(id, token);
  }

  private static RenewLeases.Lost lost(int index, ErrorCode error) {
    return new RenewLeases.Lost(index, error.number());
  }

  /** Renews leases of the store's client; gives what is lost of those that it names. */
  private List<RenewLeases.Lost> renew(RenewLeases.Lease... leases) throws Exception {
    return renew(store.wire, leases);
  }

  private static List<RenewLeases.Lost> renew(Wire client, RenewLeases.Lease... leases)
      throws Exception {
    return client
        .call(NameNodeOperations.RENEW_LEASES, new RenewLeases.Request(List.of(leases)))
        .lost();
  }

  @Test
  void oneWriterAtATime() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    refused(ErrorCode.WRITE_LEASE_HELD, "/f", () -> store.acquire(id, 8));
    String other = "another stream of this client writes to it";
    refused(ErrorCode.WRITE_LEASE_HELD, other, () -> store.acquire(id, 8));
    assertEquals(id, store.acquire(id, 9).node().id(), "again by its holder");
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.extend(id, 8, 0, 1));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 8, 0, SetSize.KEEP));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 8, 0, SetSize.END));
    store.setSize(id, 9, 0, SetSize.END);
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.extend(id, 9, 0, 1));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 0, SetSize.KEEP));
    store.acquire(id, 8);
    store.extend(id, 8, 0, 1);
    assertEquals(1, store.namenode.leases().size());
  }

  @Test
  void refusesWhatIsNoLease() throws Exception {
    long id = store.file("/f").id();
    long directory = store.mkdir("/d").id();
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.acquire(id, 0));
    refused(ErrorCode.WRONG_TYPE, "/d", () -> store.acquire(directory, 5));
    refused(ErrorCode.WRONG_TYPE, "/d", () -> store.setSize(directory, 5, 0, SetSize.END));
    refused(ErrorCode.STALE_NODE, () -> store.acquire(id + 99, 5));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.extend(id, 0, 0, 1));
    store.acquire(id, 5);
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.setSize(id, 5, 0, 3));
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.setSize(id, 5, -1, SetSize.KEEP));
    refused(ErrorCode.OUT_OF_RANGE, "/f", () -> store.setSize(id, 5, 1, SetSize.KEEP));
    store.extend(id, 5, 0, 1);
    refused(ErrorCode.OUT_OF_RANGE, "/f", () -> store.setSize(id, 5, 4097, SetSize.END));
    assertEquals(4096, store.setSize(id, 5, 4096, SetSize.END).size());
  }

  @Test
  void endingCutsOffWhatWasNotCommitted() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    List<Extent> extents = store.extend(id, 9, 0, 5 * BLOCK);
    assertEquals(5, extents.size());
    store.setSize(id, 9, BLOCK + 1, SetSize.END);
    assertEquals(2 * BLOCK, store.usage(0).usedBytes());
    assertEquals(0, store.usage(0).waitingBytes(), "all writes were acknowledged");
    List<Extent> found = store.find(id, 0).extents();
    assertEquals(List.of(extents.get(0), cut(extents.get(1), 1)), found);
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.setSize(id, 9, BLOCK + 1, SetSize.END));
    store.namenode.verify();
  }

  @Test
  void appendGoesOnInTheLastExtent() throws Exception {
    long id = store.write("/f", 5000).id();
    AcquireLease.Response append = store.acquire(id, 5);
    assertEquals(5000, append.node().size());
    assertEquals(8192, append.extents().get(0).fileEnd());
    assertEquals(
        List.of(cut(append.extents().get(0), 5000)), store.lookup("/f").extents(), "as committed");
    assertEquals(append.extents(), store.extend(id, 5, 5000, 100));
    store.setSize(id, 5, 8192, SetSize.END);
    assertEquals(List.of(), store.acquire(id, 6).extents(), "full to its end");
    assertEquals(16384, store.extend(id, 6, 8192, 1).get(0).length());
  }

  @Test
  void aSilentWritersLeaseEndsAndItsSpaceComesBack() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, 3 * BLOCK);
    store.setSize(id, 9, 100, SetSize.KEEP);
    pass(9_900);
    assertEquals(3 * BLOCK, store.usage(0).usedBytes());
    pass(300);
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.extend(id, 9, 0, 1));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 200, SetSize.KEEP));
    assertEquals(100, store.find(id, 0).size());
    assertEquals(BLOCK, store.usage(0).usedBytes());
    assertEquals(2 * BLOCK, store.usage(0).waitingBytes(), "writes may be on their way");
    assertEquals(List.of(), store.acquire(id, 8).extents(), "no more in that extent");
    pass(6_100);
    assertEquals(0, store.usage(0).waitingBytes());
    store.namenode.verify();
  }

  private static Extent cut(Extent extent, int length) {
    return new Extent(
        extent.fileOffset(),
        length,
        new Place(
            extent.place().datanode(),
            extent.place().region(),
            extent.place().offset(),
            extent.place().generation()));
  }

  @Test
  void lateWritesOfASilentWriterMissWhatTheNextOneWrites() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    Extent old = store.extend(id, 9, 0, 10_000).get(0);
    assertEquals(16384, old.length());
    store.setSize(id, 9, 1_000, SetSize.KEEP);
    pass(10_200);
    Extent sealed = cut(old, 1_000);
    assertEquals(List.of(sealed), store.find(id, 0).extents());
    assertEquals(16384, store.usage(0).usedBytes(), "it is freed as a whole");
    assertEquals(1_000, store.acquire(id, 8).node().size());
    Extent next = store.extend(id, 8, 1_000, 1).get(0);
    assertEquals(1_000, next.fileOffset());
    assertTrue(next.place().generation() > old.place().generation());
    assertTrue(
        next.place().offset() >= old.place().offset() + old.length()
            || next.place().offset() + next.length() <= old.place().offset());
    assertEquals(List.of(sealed, next), store.extend(id, 8, 0, 1));
    store.setSize(id, 8, 1_500, SetSize.KEEP);
    assertEquals(List.of(sealed, cut(next, 500)), store.find(id, 0).extents());
    assertEquals(store.find(id, 0).extents(), store.lookup("/f").extents());
    store.namenode.verify();
    // The second one vanishes too, and the third ends well.
    pass(10_200);
    store.acquire(id, 7);
    Extent third = store.extend(id, 7, 1_500, 1).get(0);
    assertEquals(1_500, third.fileOffset());
    store.setSize(id, 7, 1_600, SetSize.END);
    assertEquals(1_600, store.acquire(id, 6).node().size());
    assertEquals(List.of(third), store.extend(id, 6, 1_600, 1), "goes on after a clean end");
    store.setSize(id, 6, 1_600, SetSize.END);
    store.namenode.verify();
    // What was sealed rests, for a write may have been let in just before.
    store.remove("/f", false);
    assertEquals(0, store.usage(0).usedBytes());
    assertEquals(16384 + next.length(), store.usage(0).waitingBytes());
    pass(6_200);
    assertEquals(64L << 20, store.usage(0).freeBytes());
    store.namenode.verify();
  }

  @Test
  void aLostLeaseFailsEvenWhenTheSizeIsRight() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, 1);
    store.setSize(id, 9, 100, SetSize.KEEP);
    pass(10_200);
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 100, SetSize.END));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 100, SetSize.EXPIRE));
    store.acquire(id, 8);
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 100, SetSize.END));
    store.setSize(id, 8, 100, SetSize.END);
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.setSize(id, 9, 100, SetSize.END));
    // Between the end of the time and the timer's next round, too.
    long other = store.create(NodeType.DATAFILE, "/g", 7).id();
    store.clock.advanceMillis(10_100);
    store.namenode.leases().tick(lease -> {});
    refused(ErrorCode.WRITE_LEASE_LOST, "/g", () -> store.setSize(other, 7, 0, SetSize.END));
  }

  @Test
  void readersLearnOfCommittedBytesOnly() throws Exception {
    // Else one that asked before the seal would read there what the next writer put elsewhere.
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    Extent extent = store.extend(id, 9, 0, 1).get(0);
    store.setSize(id, 9, 100, SetSize.KEEP);
    List<Extent> committed = List.of(cut(extent, 100));
    assertEquals(committed, store.find(id, 0).extents());
    assertEquals(committed, store.lookup("/f").extents());
    assertEquals(
        committed,
        store.call(NameNodeOperations.LOCATIONS, new Locations.Request(id, 0, 4096)).extents());
    assertEquals(List.of(extent), store.extend(id, 9, 0, 1), "the writer may use all of it");
  }

  @Test
  void nothingRestsWhenNoWriteCanBeOnItsWay() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    pass(10_200);
    store.acquire(id, 8);
    store.extend(id, 8, 0, 4096);
    store.setSize(id, 8, 4096, SetSize.KEEP);
    pass(10_200);
    assertEquals(4096, store.acquire(id, 7).node().size());
  }

  @Test
  void theSpaceOfARemovedNodeRestsUntilItsWriterSaysFarewell() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    long other = store.create(NodeType.DATAFILE, "/g", 8).id();
    store.extend(id, 9, 0, 2 * BLOCK);
    store.extend(other, 8, 0, BLOCK);
    store.remove("/f", false);
    assertEquals(2 * BLOCK, store.usage(0).waitingBytes(), "writes may be on their way");
    // Neither who has no such lease, nor who does not know of his writes.
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, 7, 0, SetSize.END));
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, 9, 0, SetSize.EXPIRE));
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, 9, 0, SetSize.KEEP));
    assertEquals(2 * BLOCK, store.usage(0).waitingBytes());
    store.namenode.verify();
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, 9, 0, SetSize.END));
    assertEquals(0, store.usage(0).waitingBytes());
    store.remove("/g", false);
    pass(16_100);
    assertEquals(0, store.usage(0).waitingBytes(), "nothing is said, and time has passed");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(other, 8, 0, SetSize.END));
    assertEquals(0, store.namenode.leases().size());
    store.namenode.verify();
  }

  @Test
  void aRenewalKeepsTheLeasesThatItNames() throws Exception {
    long f = store.create(NodeType.DATAFILE, "/f", 9).id();
    long g = store.create(NodeType.DATAFILE, "/g", 8).id();
    final long unnamed = store.create(NodeType.DATAFILE, "/h", 7).id();
    store.extend(unnamed, 7, 0, BLOCK);
    for (int i = 0; i < 10; i++) {
      pass(5_000);
      assertEquals(List.of(), renew(lease(f, 9), lease(g, 8)));
    }
    store.extend(f, 9, 0, 1);
    store.extend(g, 8, 0, 1);
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.extend(unnamed, 7, 0, 1));
    assertEquals(0, store.usage(0).waitingBytes(), "what its writer had is free again");
    assertEquals(List.of(lost(0, ErrorCode.WRITE_LEASE_LOST)), renew(lease(unnamed, 7)));
    assertEquals(2, store.namenode.leases().size());
    assertEquals(List.of(), renew());
    store.namenode.verify();
  }

  @Test
  void aRenewalTellsWhichLeasesAreLost() throws Exception {
    long kept = store.create(NodeType.DATAFILE, "/kept", 1).id();
    long removed = store.create(NodeType.DATAFILE, "/removed", 2).id();
    store.mkdir("/d");
    long below = store.create(NodeType.DATAFILE, "/d/below", 3).id();
    store.create(NodeType.TABLE, "/t", 0);
    long replaced = store.create(NodeType.KEYVALUE, "/t/k", 4).id();
    long abandoned = store.create(NodeType.DATAFILE, "/abandoned", 5).id();
    long ended = store.create(NodeType.DATAFILE, "/ended", 6).id();
    RenewLeases.Lease[] all = {
      lease(removed, 2),
      lease(kept, 1),
      lease(below, 3),
      lease(replaced, 4),
      lease(abandoned, 5),
      lease(ended, 6),
      lease(kept, 7)
    };
    assertEquals(List.of(lost(6, ErrorCode.WRITE_LEASE_LOST)), renew(all));
    Wire other = Wire.connect(store.server, TestStore.CLIENT + 1);
    assertEquals(7, renew(other, all).size(), "they are not its own");
    store.remove("/removed", false);
    store.remove("/d", true);
    store.create(NodeType.KEYVALUE, "/t/k", 4);
    store.setSize(abandoned, 5, 0, SetSize.EXPIRE);
    store.setSize(ended, 6, 0, SetSize.END);
    List<RenewLeases.Lost> expected =
        List.of(
            lost(0, ErrorCode.STALE_NODE),
            lost(2, ErrorCode.STALE_NODE),
            lost(3, ErrorCode.STALE_NODE),
            lost(4, ErrorCode.WRITE_LEASE_LOST),
            lost(5, ErrorCode.WRITE_LEASE_LOST),
            lost(6, ErrorCode.WRITE_LEASE_LOST));
    assertEquals(expected, renew(all));
    assertEquals(expected, renew(all), "however often it is asked");
  }

  @Test
  void theSpaceOfARemovedNodeRestsAsLongAsTheLastRenewalOfItsLease() throws Exception {
    int unchecked = store.datanode(2, "other", 1, false, BLOCK);
    long id =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE, true, true, false, 0644, 1, 9, Utf8.of("/f"), Utf8.EMPTY))
            .node()
            .id();
    store.extend(id, 9, 0, BLOCK);
    store.passAlive(9_000, datanode, unchecked);
    assertEquals(List.of(), renew(lease(id, 9)));
    store.remove("/f", false);
    for (int i = 0; i < 5; i++) {
      store.passAlive(3_000, datanode, unchecked);
      assertEquals(List.of(lost(0, ErrorCode.STALE_NODE)), renew(lease(id, 9)));
      assertEquals(BLOCK, store.usage(1).waitingBytes());
    }
    // 10 s of lease and 6 s of margin, whatever is asked meanwhile.
    store.passAlive(1_200, datanode, unchecked);
    assertEquals(0, store.usage(1).waitingBytes());
    store.namenode.verify();
  }

  @Test
  void aRenewalThatIsServedLateTakesNothingBack() {
    ClientLeases client = new ClientLeases(5, 100);
    WriteLease<String> lease = new WriteLease<>("node", 1, client, 0, 100);
    client.add(lease);
    client.renew(lease, 300);
    client.renew(lease, 200);
    assertEquals(300, lease.endNanos());
  }

  @Test
  void leasesRunOutInTheOrderOfTheirEnds() {
    ClientLeases client = new ClientLeases(5, 100);
    WriteLease<String> first = new WriteLease<>("first", 1, client, 0, 100);
    WriteLease<String> second = new WriteLease<>("second", 2, client, 10, 110);
    client.add(first);
    client.add(second);
    client.renew(first, 200);
    assertEquals(null, client.pollOverdue(109));
    assertEquals(second, client.pollOverdue(110));
    assertFalse(second.isHeld());
    client.renew(second, 300);
    assertEquals(110, second.endNanos(), "too late");
    assertEquals(null, client.pollOverdue(199));
    assertFalse(client.isGone(199));
    assertTrue(first.isHeld());
    assertEquals(first, client.pollOverdue(200));
    assertTrue(client.isGone(200));
    assertFalse(client.add(first));
  }

  @Test
  void writingIsASignOfLife() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    for (int i = 0; i < 10; i++) {
      pass(5_000);
      store.extend(id, 9, 0, 1 + i * 1000);
    }
    store.setSize(id, 9, 10, SetSize.END);
  }

  @Test
  void anAbandonedLeaseRunsOutWhateverTheClientRenews() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    final long other = store.create(NodeType.DATAFILE, "/g", 8).id();
    store.extend(id, 9, 0, BLOCK);
    store.setSize(id, 9, 0, SetSize.EXPIRE);
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.extend(id, 9, 0, 1));
    String failed = "a stream of it ended after a failed write";
    refused(ErrorCode.WRITE_LEASE_HELD, failed, () -> store.acquire(id, 7));
    for (int i = 0; i < 3; i++) {
      pass(3_300);
      assertEquals(BLOCK, store.usage(0).usedBytes());
      assertEquals(List.of(), renew(lease(other, 8)));
    }
    pass(200);
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    assertEquals(
        List.of(lost(1, ErrorCode.WRITE_LEASE_LOST)), renew(lease(other, 8), lease(id, 9)));
    store.acquire(id, 7);
    pass(6_200);
    store.namenode.verify();
    assertEquals(0, store.usage(0).waitingBytes());
  }

  @Test
  void leasesAreLimitedAndARefusedCreateLeavesNothing() throws Exception {
    store = new TestStore("crail.namenode.maxleases", "2");
    datanode = store.datanode(BLOCK);
    store.create(NodeType.DATAFILE, "/a", 1);
    long b = store.create(NodeType.DATAFILE, "/b", 2).id();
    refused(ErrorCode.LIMIT_EXCEEDED, () -> store.create(NodeType.DATAFILE, "/c", 3));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/c"));
    long root = store.lookup("/").node().id();
    assertEquals(List.of("a", "b"), store.list(root, 10));
    store.setSize(b, 2, 0, SetSize.END);
    store.create(NodeType.DATAFILE, "/c", 3);
    store.remove("/a", false);
    store.create(NodeType.DATAFILE, "/d", 4);
    pass(10_200);
    assertEquals(0, store.namenode.leases().size());
  }

  /**
   * Many writers at random, some of which vanish: accounts stay exact, and no node has two writers.
   */
  @Test
  void randomWriters() throws Exception {
    Random random = new Random(TestStore.seed());
    store = new TestStore("crail.blocksize", "64k");
    datanode = store.datanode(1, "host", 0, true, 8L << 20);
    int unchecked = store.datanode(2, "host", 0, false, 8L << 20);
    Wire[] clients = new Wire[3];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = Wire.connect(store.server, i);
    }
    Map<Long, Long> tokens = new HashMap<>();
    Map<Long, Long> committed = new HashMap<>();
    List<Long> ids = new ArrayList<>();
    List<Long> gone = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      Wire client = clients[random.nextInt(3)];
      if (ids.size() < 30) {
        long token = 1 + random.nextInt(1_000_000);
        long id =
            client
                .call(
                    NameNodeOperations.CREATE,
                    TestStore.creation(NodeType.DATAFILE, "/f" + step, token))
                .node()
                .id();
        ids.add(id);
        tokens.put(id, token);
        committed.put(id, 0L);
      }
      long id = ids.get(random.nextInt(ids.size()));
      try {
        switch (random.nextInt(6)) {
          case 0:
            List<Extent> extents = store.extend(id, tokens.get(id), 0, random.nextInt(100_000));
            long end = extents.get(extents.size() - 1).fileEnd();
            long size = Math.max(committed.get(id), random.nextInt((int) end));
            committed.put(id, store.setSize(id, tokens.get(id), size, SetSize.KEEP).size());
            break;
          case 1:
            store.setSize(id, tokens.get(id), committed.get(id), 1 + random.nextInt(2));
            break;
          case 2:
            long token = 1 + random.nextInt(1_000_000);
            client.call(NameNodeOperations.ACQUIRE_LEASE, new AcquireLease.Request(id, token));
            tokens.put(id, token);
            break;
          case 3:
            if (random.nextInt(3) == 0) {
              String path = store.namenode.tree().require(id).path();
              store.remove(path, false);
              ids.remove(id);
              gone.add(id);
            }
            if (!gone.isEmpty()) {
              long left = gone.get(random.nextInt(gone.size()));
              refused(
                  ErrorCode.STALE_NODE,
                  () -> store.setSize(left, tokens.get(left), 0, SetSize.END));
            }
            break;
          case 4:
            renew();
            break;
          default:
            store.passAlive(random.nextInt(300), datanode, unchecked);
        }
      } catch (CrailException e) {
        assertTrue(EXPECTED.contains(e.code()), e::toString);
        assertTrue(e.detail().contains("/f"), e.getMessage());
      }
      if (ids.contains(id)) {
        assertEquals(committed.get(id), store.find(id, 0).size(), "committed bytes stay");
      }
      if (step % 100 == 0) {
        store.namenode.verify();
      }
    }
    for (int i = 0; i < 40; i++) {
      store.passAlive(1_000, datanode, unchecked);
    }
    assertEquals(0, store.namenode.leases().size());
    for (long id : List.copyOf(ids)) {
      store.remove(store.namenode.tree().require(id).path(), false);
    }
    store.passAlive(17_000, datanode, unchecked);
    store.namenode.verify();
    assertEquals(16L << 20, store.usage(0).freeBytes());
  }
}
