/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests space that a client may still write to, at a datanode that checks no generations. The test
 * moves the clock; a lease lasts 10 s, the margin is 6 s.
 */
class CutOffTest {
  private static final long LEASE_AND_MARGIN = 16_000;

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(1, "host", 0, false, 64L << 20);
  }

  /** A sign of life that confirms the cut-offs of an earlier answer. */
  private KeepAlive.Response alive(long done) throws Exception {
    return store.call(
        NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(datanode, false, done, 0, -1, -1));
  }

  /** Lets time pass for a datanode that lives, and does nothing of what its answers ask for. */
  private void pass(long millis) throws Exception {
    for (long passed = 0; passed < millis; passed += 1000) {
      alive(0);
      store.pass(1000);
    }
  }

  private long waiting() {
    return store.usage(0).waitingBytes();
  }

  /** A file of a writer, with all its blocks. */
  private long written(String path, long token, long bytes) throws Exception {
    long id = store.create(NodeType.DATAFILE, path, token).id();
    long end = 0;
    while (end < bytes) {
      List<Extent> extents = store.extend(id, token, end, bytes - end);
      end = extents.get(extents.size() - 1).fileEnd();
    }
    return id;
  }

  @Test
  void spaceOfASilentWriterWaitsUntilItIsCutOff() throws Exception {
    written("/f", 9, 3 * BLOCK);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN - 2000);
    assertEquals(0, alive(0).cutOff(), "its lease may still be good");
    pass(4000);
    KeepAlive.Response told = alive(0);
    assertEquals(List.of(TestStore.CLIENT), told.clients());
    // However long it takes, and however often it is asked.
    pass(100_000);
    assertEquals(3 * BLOCK, waiting());
    assertEquals(told, alive(0));
    assertEquals(told, alive(told.cutOff() + 1), "no list has that number");
    store.namenode.verify();
    KeepAlive.Response after = alive(told.cutOff());
    assertEquals(new KeepAlive.Response(false, false, 61, 64, 1, 0, List.of()), after);
    store.pass(100);
    assertEquals(0, waiting());
    assertEquals(after.totalBlocks(), alive(told.cutOff()).freeBlocks());
    store.namenode.verify();
  }

  @Test
  void withoutCutOffsSpaceRestsAndIsFree() throws Exception {
    store = new TestStore();
    TierTraits traits = new TierTraits(512, FenceKind.REST, 0, true, Utf8.EMPTY, Utf8.of("nqn 1"));
    datanode =
        store
            .call(
                NameNodeOperations.REGISTER_DATANODE,
                TestStore.registration(1, "host", 1001, 0, traits))
            .datanode();
    store.region(datanode, 0, 64L << 20);
    assertEquals(
        traits,
        store
            .call(NameNodeOperations.DESCRIBE_DATANODE, new DescribeDatanode.Request(datanode, 0))
            .traits());
    written("/f", 9, 3 * BLOCK);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN - 2000);
    assertEquals(3 * BLOCK, waiting());
    pass(4000);
    assertEquals(0, alive(0).cutOff());
    assertEquals(0, waiting());
    store.namenode.verify();
  }

  @Test
  void aClientThatReportsItsEndIsNotCutOff() throws Exception {
    long id = written("/f", 9, BLOCK);
    store.remove("/f", false);
    pass(2000);
    assertStale(id, 9);
    assertEquals(BLOCK, waiting(), "readers may still be there");
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(0, alive(0).cutOff());
    assertEquals(0, waiting());
    store.namenode.verify();
  }

  private void assertStale(long id, long token) throws Exception {
    Refusals.refused(ErrorCode.STALE_NODE, () -> store.setSize(id, token, 0, SetSize.END));
  }

  @Test
  void closedWritersAreNotCutOffByARemoval() throws Exception {
    store.write("/f", BLOCK);
    long id = written("/g", 9, 3 * BLOCK);
    store.setSize(id, 9, BLOCK, SetSize.END);
    store.remove("/f", false);
    store.remove("/g", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(0, alive(0).cutOff());
    assertEquals(0, waiting());
  }

  @Test
  void aDatanodeThatChecksGenerationsGetsNoCutOffs() throws Exception {
    datanode = store.datanode(2, "host", 1, true, 64L << 20);
    long id =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE, true, false, false, 0644, 1, 9, Utf8.of("/f"), Utf8.EMPTY))
            .node()
            .id();
    assertEquals(datanode, store.extend(id, 9, 0, BLOCK).get(0).place().datanode());
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(0, alive(0).cutOff());
    assertEquals(0, store.usage(1).waitingBytes());
  }

  @Test
  void whoseLeaseRunsOutIsCutOffAtOnceWhereHisExtentStays() throws Exception {
    long id = written("/f", 9, BLOCK);
    store.setSize(id, 9, 100, SetSize.KEEP);
    pass(12_000);
    KeepAlive.Response told = alive(0);
    assertEquals(List.of(TestStore.CLIENT), told.clients());
    // Far after its end, the sealed extent is freed, although its writer is not cut off yet.
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(BLOCK, waiting());
    assertEquals(0, alive(told.cutOff()).cutOff());
    store.pass(100);
    assertEquals(0, waiting());
    store.namenode.verify();
  }

  @Test
  void uncommittedSpaceOfAnExpiredLeaseWaitsToo() throws Exception {
    long id = written("/f", 9, 3 * BLOCK);
    store.setSize(id, 9, BLOCK, SetSize.KEEP);
    pass(10_000 + LEASE_AND_MARGIN + 2000);
    assertEquals(2 * BLOCK, waiting());
    KeepAlive.Response told = alive(0);
    assertEquals(List.of(TestStore.CLIENT), told.clients());
    alive(told.cutOff());
    store.pass(100);
    assertEquals(0, waiting());
    // A lease that its holder lets run out is one that he has not ended.
    store.acquire(id, 9);
    store.extend(id, 9, BLOCK, BLOCK);
    store.setSize(id, 9, BLOCK, SetSize.EXPIRE);
    pass(10_000 + LEASE_AND_MARGIN + 2000);
    assertEquals(BLOCK, waiting());
    assertEquals(List.of(TestStore.CLIENT), alive(0).clients());
    store.namenode.verify();
  }

  @Test
  void aSealedExtentWhoseWriterWasCutOffLongAgoOnlyRests() throws Exception {
    long id = written("/f", 9, BLOCK);
    store.setSize(id, 9, 100, SetSize.KEEP);
    store.passAlive(12_000, datanode);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(0, alive(0).cutOff());
    assertEquals(0, waiting());
  }

  @Test
  void aClientOrderedAgainMeanwhileIsInTheNextList() throws Exception {
    written("/f", 9, BLOCK);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    KeepAlive.Response first = alive(0);
    assertEquals(List.of(TestStore.CLIENT), first.clients());
    for (int i = 0; i < 3; i++) {
      written("/g" + i, 9, BLOCK);
      store.remove("/g" + i, false);
    }
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(first.cutOff(), alive(0).cutOff());
    assertEquals(first.clients(), alive(0).clients());
    KeepAlive.Response second = alive(first.cutOff());
    assertTrue(second.cutOff() > first.cutOff());
    assertEquals(List.of(TestStore.CLIENT), second.clients(), "once, for all three");
    store.pass(100);
    assertEquals(3 * BLOCK, waiting());
    // The confirmation of the first list comes late once more.
    assertEquals(second.cutOff(), alive(first.cutOff()).cutOff());
    alive(second.cutOff());
    store.pass(100);
    assertEquals(0, waiting());
  }

  @Test
  void manyClientsAreListedPageByPage() throws Exception {
    int clients = KeepAlive.MAX_CLIENTS + 10;
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      Wire wire = Wire.connect(store.server, 1000 + i);
      String path = "/f" + i;
      Create.Request creation = TestStore.creation(NodeType.DATAFILE, path, 9);
      long id = wire.call(NameNodeOperations.CREATE, creation).node().id();
      store.extend(id, 9, 0, 1);
      ids.add(1000L + i);
    }
    for (int i = 0; i < clients; i++) {
      store.remove("/f" + i, false);
    }
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(4096L * clients, waiting());
    KeepAlive.Response first = alive(0);
    assertEquals(KeepAlive.MAX_CLIENTS, first.clients().size());
    KeepAlive.Response second = alive(first.cutOff());
    assertEquals(10, second.clients().size());
    Set<Long> all = new HashSet<>(first.clients());
    all.addAll(second.clients());
    assertEquals(new HashSet<>(ids), all);
    alive(second.cutOff());
    store.pass(100);
    assertEquals(0, waiting());
    store.namenode.verify();
  }

  @Test
  void aReplacedDatanodeHasNoClientsToCutOff() throws Exception {
    written("/f", 9, BLOCK);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(BLOCK, waiting());
    store.pass(30_000);
    int old = datanode;
    datanode =
        store
            .call(
                NameNodeOperations.REGISTER_DATANODE,
                TestStore.registration(5, "host", 1001, 0, false))
            .datanode();
    assertTrue(old != datanode);
    store.region(datanode, 0, 64L << 20);
    store.pass(200);
    assertEquals(0, waiting());
    assertEquals(0, alive(0).cutOff());
    store.namenode.verify();
  }

  @Test
  void aSilentDatanodeWithNothingElseIsForgotten() throws Exception {
    written("/f", 9, BLOCK);
    store.remove("/f", false);
    pass(LEASE_AND_MARGIN + 2000);
    assertEquals(1, store.namenode.datanodes().list(-1, 10, TestStore.caller("")).size());
    store.pass(200_000);
    assertEquals(0, store.namenode.datanodes().list(-1, 10, TestStore.caller("")).size());
    store.namenode.verify();
  }

  @Test
  void aLivingClientIsCutOffForItsUnansweredSpace() throws Exception {
    written("/kept", 8, BLOCK);
    written("/f", 9, BLOCK);
    store.remove("/f", false);
    RenewLeases.Lease kept = new RenewLeases.Lease(store.lookup("/kept").node().id(), 8);
    for (int i = 0; i < 18; i++) {
      pass(1000);
      store.call(NameNodeOperations.RENEW_LEASES, new RenewLeases.Request(List.of(kept)));
    }
    KeepAlive.Response told = alive(0);
    assertEquals(List.of(TestStore.CLIENT), told.clients());
    alive(told.cutOff());
    store.pass(100);
    assertEquals(0, waiting());
    store.setSize(store.lookup("/kept").node().id(), 8, BLOCK, SetSize.END);
  }
}
