/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeType;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests when space becomes free after its node was removed while a writer was at work: after 16 s,
 * or sooner if the writer says that it has ended.
 */
class FarewellTest {
  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(8L * BLOCK);
    store.create(NodeType.TABLE, "/t", 0);
  }

  private long put(String path, long token, long bytes) throws CrailException {
    long id = store.create(NodeType.KEYVALUE, path, token).id();
    store.extend(id, token, 0, bytes);
    return id;
  }

  private void says(long id, long token, int close) {
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, token, 10, close));
    store.namenode.verify();
  }

  private void assertWaiting(long bytes) {
    assertEquals(bytes, store.usage(0).waitingBytes());
  }

  @Test
  void theWriterOfAReplacedValueFreesItsSpace() throws Exception {
    long old = put("/t/k", 9, 2 * BLOCK);
    put("/t/k", 8, BLOCK);
    assertWaiting(2 * BLOCK);
    says(old, 7, SetSize.END);
    says(old, 9, SetSize.KEEP);
    says(old, 9, SetSize.EXPIRE);
    assertWaiting(2 * BLOCK);
    says(old, 9, SetSize.END);
    assertWaiting(0);
    assertEquals(BLOCK, store.usage(0).usedBytes());
    // Again, because the answer got lost, and when another node has the space.
    put("/t/other", 7, 7 * BLOCK);
    says(old, 9, SetSize.END);
    assertEquals(8 * BLOCK, store.usage(0).usedBytes());
  }

  @Test
  void theWriterOfADeletedFileFreesItsSpace() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, BLOCK);
    store.remove("/f", false);
    assertWaiting(BLOCK);
    says(id, 9, SetSize.END);
    assertWaiting(0);
  }

  @Test
  void theWriterOfAnOverwrittenFileFreesItsSpace() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, BLOCK);
    long next = store.replace("/f", 8).id();
    store.extend(next, 8, 0, BLOCK);
    assertWaiting(BLOCK);
    says(id, 9, SetSize.END);
    assertWaiting(0);
    store.create(NodeType.DATAFILE, "/g", 7);
    store.renameOver("/g", "/f");
    assertWaiting(BLOCK);
    RenewLeases.Response renewed =
        store.call(
            NameNodeOperations.RENEW_LEASES,
            new RenewLeases.Request(List.of(new RenewLeases.Lease(next, 8))));
    assertEquals(ErrorCode.STALE_NODE.number(), renewed.lost().get(0).error());
    says(next, 8, SetSize.END);
    assertWaiting(0);
    assertEquals(0, store.usage(0).usedBytes());
  }

  @Test
  void theWriterInADirectoryThatIsStillTakenApartFreesItsSpace() throws Exception {
    store.mkdir("/d");
    long id = store.create(NodeType.DATAFILE, "/d/f", 9).id();
    store.extend(id, 9, 0, BLOCK);
    for (int i = 0; i < 1_000; i++) {
      store.file("/d/f" + i);
    }
    store.remove("/d", true);
    assertEquals(BLOCK, store.usage(0).usedBytes(), "not yet its turn");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, 9, 10, SetSize.END));
    store.pass(100);
    assertWaiting(0);
    assertEquals(8L * BLOCK, store.usage(0).freeBytes());
    store.namenode.verify();
  }

  @Test
  void aPossibleWriterKeepsTheSpaceWaiting() throws Exception {
    long failed = put("/t/failed", 9, BLOCK);
    store.setSize(failed, 9, 0, SetSize.EXPIRE);
    put("/t/failed", 8, 1);
    says(failed, 9, SetSize.END);
    assertWaiting(BLOCK);
    // Without any report, nothing is remembered when its time has come.
    put("/t/silent", 7, BLOCK);
    put("/t/silent", 6, 1);
    assertWaiting(2 * BLOCK);
    store.passAlive(16_200, datanode);
    assertWaiting(0);
    assertEquals(0, store.namenode.allocator().awaitedWriters());
  }

  @Test
  void spaceThatOthersMayUseRestsInSpiteOfTheReport() throws Exception {
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, BLOCK);
    store.setSize(id, 9, 10, SetSize.KEEP);
    store.passAlive(10_200, datanode);
    store.acquire(id, 8);
    store.extend(id, 8, 10, 2 * BLOCK);
    store.remove("/f", false);
    assertWaiting(3 * BLOCK);
    says(id, 8, SetSize.END);
    assertEquals(BLOCK, store.usage(0).waitingBytes(), "the sealed one, of the writer before");
    // Where no generation is checked, readers may still come.
    store = new TestStore();
    store.datanode(1, "host", 0, false, 8L * BLOCK);
    store.create(NodeType.TABLE, "/t", 0);
    long old = put("/t/k", 9, BLOCK);
    put("/t/k", 8, 1);
    says(old, 9, SetSize.END);
    assertWaiting(BLOCK);
  }

  @Test
  void aLongRestHoldsNoShorterOneUp() throws Exception {
    int unchecked = store.datanode(2, "host", 1, false, 8L * BLOCK);
    long sealed = store.create(NodeType.DATAFILE, "/sealed", 9).id();
    store.extend(sealed, 9, 0, BLOCK);
    store.setSize(sealed, 9, 10, SetSize.KEEP);
    store.passAlive(10_200, datanode, unchecked);
    long slow =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE, true, true, false, 0644, 1, 9, Utf8.of("/slow"), Utf8.EMPTY))
            .node()
            .id();
    store.extend(slow, 9, 0, BLOCK);
    store.setSize(slow, 9, 10, SetSize.END);
    store.remove("/slow", false);
    store.remove("/sealed", false);
    assertEquals(BLOCK, store.usage(1).waitingBytes());
    assertWaiting(BLOCK);
    store.passAlive(6_200, datanode, unchecked);
    assertWaiting(0);
    assertEquals(BLOCK, store.usage(1).waitingBytes());
    store.passAlive(10_000, datanode, unchecked);
    assertEquals(0, store.usage(1).waitingBytes());
  }

  @Test
  void aKeyThatManyPutNeedsSpaceForThoseUnderWayAlone() throws Exception {
    long before = put("/t/k", 1, 2 * BLOCK);
    for (int i = 2; i < 200; i++) {
      long id = put("/t/k", i, 2 * BLOCK);
      says(before, i - 1, SetSize.END);
      before = id;
    }
    assertTrue(store.usage(0).freeBytes() >= 6 * BLOCK);
  }
}
