/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a value after the create of its put and before its bytes: readers can tell it from an empty
 * value, and it ends when its put fails.
 */
class BeingPutTest {
  private static final long TOKEN = 9;
  private static final int LENGTH = 60_000;

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.namenode.freemargin", "500ms");
    datanode = store.datanode(16L << 20);
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  private NodeInfo put(String path, int length, long token) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, token, length)).node();
  }

  private NodeInfo found(String path) throws CrailException {
    return store.lookup(path).node();
  }

  @Test
  void untilItsBytesAreThere() throws Exception {
    NodeInfo created = put("/t/k", LENGTH, TOKEN);
    assertTrue(created.isBeingPut());
    assertTrue(found("/t/k").isBeingPut());
    store.setSize(created.id(), TOKEN, 0, SetSize.KEEP);
    assertTrue(found("/t/k").isBeingPut());
    assertFalse(store.setSize(created.id(), TOKEN, LENGTH, SetSize.END).isBeingPut());
    assertFalse(found("/t/k").isBeingPut());
    assertEquals(NodeInfo.ENUMERABLE, found("/t/k").flags());
  }

  @Test
  void anEmptyValueIsNone() throws Exception {
    assertFalse(put("/t/empty", 0, 0).isBeingPut());
    NodeInfo created = store.create(NodeType.KEYVALUE, "/t/created", TOKEN);
    assertFalse(created.isBeingPut());
    store.setSize(created.id(), TOKEN, 0, SetSize.END);
    assertEquals(0, found("/t/created").size());
  }

  private void assertAbandoned(String path) throws CrailException {
    assertTrue(found(path).isAbandoned());
    assertFalse(found(path).isBeingPut());
    assertEquals(0, store.usage(0).usedBytes());
  }

  @Test
  void aPutThatEndsWithNothingIsAbandoned() throws Exception {
    long id = put("/t/k", LENGTH, TOKEN).id();
    store.rename("/t/k", "/t/renamed");
    store.setSize(id, TOKEN, 0, SetSize.END);
    assertAbandoned("/t/renamed");
    // A client may write to it, and then it is a value as any other, though an empty one is none.
    store.acquire(id, TOKEN + 1);
    store.setSize(id, TOKEN + 1, 0, SetSize.END);
    assertAbandoned("/t/renamed");
    store.acquire(id, TOKEN + 2);
    store.extend(id, TOKEN + 2, 0, 1);
    store.setSize(id, TOKEN + 2, 1, SetSize.END);
    assertEquals(NodeInfo.ENUMERABLE, found("/t/renamed").flags());
  }

  @Test
  void aPutWhoseWriterVanishesIsAbandoned() throws Exception {
    put("/t/k", LENGTH, TOKEN);
    store.passAlive(9_000, datanode);
    assertTrue(found("/t/k").isBeingPut());
    store.passAlive(2_000, datanode);
    assertAbandoned("/t/k");
    // Or when that gives up, while bytes are on their way.
    long id = put("/t/k", LENGTH, TOKEN).id();
    store.setSize(id, TOKEN, 0, SetSize.EXPIRE);
    assertTrue(found("/t/k").isBeingPut());
    store.passAlive(11_000, datanode);
    assertAbandoned("/t/k");
    assertFalse(put("/t/k", 0, 0).isAbandoned());
  }

  @Test
  void committedBytesOfAVanishedWriterStay() throws Exception {
    long id = put("/t/k", LENGTH, TOKEN).id();
    store.setSize(id, TOKEN, 10, SetSize.KEEP);
    assertFalse(found("/t/k").isBeingPut());
    store.passAlive(11_000, datanode);
    assertEquals(10, found("/t/k").size());
  }

  @Test
  void anotherPutInItsPlaceIsNotTouched() throws Exception {
    long overtaken = put("/t/k", LENGTH, TOKEN).id();
    long last = put("/t/k", LENGTH, TOKEN + 1).id();
    refused(ErrorCode.STALE_NODE, () -> store.setSize(overtaken, TOKEN, 0, SetSize.END));
    assertEquals(last, found("/t/k").id());
    store.setSize(last, TOKEN + 1, LENGTH, SetSize.END);
    assertEquals(LENGTH, found("/t/k").size());
  }
}
