/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests puts that replace a value: it stays until the new one is whole, whatever becomes of the
 * writer, and of the name meanwhile.
 */
class ReplacingPutTest {
  private static final long OLD = 8;
  private static final long TOKEN = 9;
  private static final int OLD_LENGTH = 5_000;
  private static final int LENGTH = 60_000;
  private static final long OLD_SPACE = 8 << 10;
  private static final long SPACE = 64 << 10;

  private TestStore store;
  private int datanode;
  private long table;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.namenode.freemargin", "500ms");
    datanode = store.datanode(16L << 20);
    table = store.create(NodeType.TABLE, "/t", 0).id();
  }

  @AfterEach
  void everythingAddsUp() throws Exception {
    store.namenode.verify();
    store.passAlive(15_000, datanode);
    store.namenode.verify();
    store.remove("/t", true);
    store.pass(100);
    store.passAlive(15_000, datanode);
    store.namenode.verify();
    assertEquals(16L << 20, store.usage(0).freeBytes());
  }

  private NodeInfo begin(String path, int length, long token) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, token, length)).node();
  }

  private NodeInfo put(String path, int length, long token) throws CrailException {
    return store.setSize(begin(path, length, token).id(), token, length, SetSize.END);
  }

  private NodeInfo found(String path) throws CrailException {
    return store.lookup(path).node();
  }

  /** The value under a path is this node, with all its bytes, and listed once. */
  private void assertValue(long id, int length, String path) throws CrailException {
    NodeInfo node = found(path);
    assertEquals(id, node.id());
    assertEquals(length, node.size());
    assertFalse(node.isBeingPut() || node.isAbandoned());
    assertEquals(length, store.find(id, 0).size());
    assertEquals(1, store.list(table, 100).stream().filter(path.substring(3)::equals).count());
  }

  @Test
  void theOldValueStaysUntilTheNewOneIsWhole() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    NodeInfo created = begin("/t/k", LENGTH, TOKEN);
    assertTrue(created.isBeingPut());
    assertNotEquals(old, created.id());
    assertValue(old, OLD_LENGTH, "/t/k");
    store.setSize(created.id(), TOKEN, LENGTH - 1, SetSize.KEEP);
    assertValue(old, OLD_LENGTH, "/t/k");
    store.namenode.verify();
    assertFalse(store.setSize(created.id(), TOKEN, LENGTH, SetSize.END).isBeingPut());
    assertValue(created.id(), LENGTH, "/t/k");
    refused(ErrorCode.STALE_NODE, () -> store.find(old, 0));
    assertEquals(SPACE, store.usage(0).usedBytes());
  }

  @Test
  void aWholeValueNeedsNoEndOfItsLease() throws Exception {
    put("/t/k", OLD_LENGTH, OLD);
    long id = begin("/t/k", LENGTH, TOKEN).id();
    store.setSize(id, TOKEN, LENGTH, SetSize.EXPIRE);
    assertValue(id, LENGTH, "/t/k");
  }

  @Test
  void aWriterThatVanishesLeavesTheOldValue() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    long id = begin("/t/k", LENGTH, TOKEN).id();
    store.setSize(id, TOKEN, 10, SetSize.KEEP);
    store.passAlive(9_000, datanode);
    assertEquals(OLD_SPACE + SPACE, store.usage(0).usedBytes());
    store.passAlive(4_000, datanode);
    assertValue(old, OLD_LENGTH, "/t/k");
    assertEquals(OLD_SPACE, store.usage(0).usedBytes());
    assertEquals(0, store.usage(0).waitingBytes());
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.setSize(id, TOKEN, LENGTH, SetSize.END));
    assertValue(old, OLD_LENGTH, "/t/k");
    // It was only late, and puts its value from the beginning.
    assertEquals(0, store.acquire(id, TOKEN + 1).node().size());
    store.extend(id, TOKEN + 1, 0, LENGTH);
    store.setSize(id, TOKEN + 1, LENGTH, SetSize.END);
    assertValue(id, LENGTH, "/t/k");
  }

  @Test
  void aWriterThatGivesUpLeavesTheOldValue() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    for (int written : new int[] {0, 10, LENGTH - 1}) {
      long id = begin("/t/k", LENGTH, TOKEN).id();
      store.setSize(id, TOKEN, written, SetSize.END);
      assertValue(old, OLD_LENGTH, "/t/k");
      assertEquals(OLD_SPACE, store.usage(0).usedBytes());
      refused(ErrorCode.STALE_NODE, () -> store.setSize(id, TOKEN, written, SetSize.END));
      store.namenode.verify();
    }
    long id = begin("/t/k", LENGTH, TOKEN).id();
    store.setSize(id, TOKEN, 10, SetSize.EXPIRE);
    store.passAlive(12_000, datanode);
    assertValue(old, OLD_LENGTH, "/t/k");
    assertEquals(OLD_SPACE, store.usage(0).usedBytes());
  }

  /** On every tier, since all its writes were acknowledged and no reader has seen the bytes. */
  @Test
  void spaceOfAWriterThatGivesUpIsFreeAtOnce() throws Exception {
    store = new TestStore("crail.namenode.freemargin", "500ms");
    datanode = store.datanode(1, "host", 0, false, 16L << 20);
    table = store.create(NodeType.TABLE, "/t", 0).id();
    put("/t/k", OLD_LENGTH, OLD);
    store.setSize(begin("/t/k", LENGTH, TOKEN).id(), TOKEN, 0, SetSize.END);
    assertEquals(OLD_SPACE, store.usage(0).usedBytes());
    assertEquals(0, store.usage(0).waitingBytes());
  }

  @Test
  void theLaterOfTwoPutsWins() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    long first = begin("/t/k", LENGTH, TOKEN).id();
    long second = begin("/t/k", LENGTH, TOKEN + 1).id();
    store.namenode.verify();
    refused(ErrorCode.STALE_NODE, () -> store.setSize(first, TOKEN, LENGTH, SetSize.END));
    assertValue(old, OLD_LENGTH, "/t/k");
    store.setSize(second, TOKEN + 1, LENGTH, SetSize.END);
    assertValue(second, LENGTH, "/t/k");
    // One that is there at once comes after one that has begun.
    long third = begin("/t/k", LENGTH, TOKEN).id();
    long empty = begin("/t/k", 0, 0).id();
    assertValue(empty, 0, "/t/k");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(third, TOKEN, LENGTH, SetSize.END));
    assertValue(empty, 0, "/t/k");
  }

  /** A value that is written through a stream grows like a file, also in the place of another. */
  @Test
  void aCreateReplacesAtOnce() throws Exception {
    put("/t/k", OLD_LENGTH, OLD);
    long put = begin("/t/k", LENGTH, TOKEN).id();
    long created = store.create(NodeType.KEYVALUE, "/t/k", TOKEN + 1).id();
    assertValue(created, 0, "/t/k");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(put, TOKEN, LENGTH, SetSize.END));
    // What such a stream has written so far stays when the key is put.
    store.extend(created, TOKEN + 1, 0, 10);
    store.setSize(created, TOKEN + 1, 10, SetSize.KEEP);
    long next = begin("/t/k", LENGTH, TOKEN).id();
    assertValue(created, 10, "/t/k");
    store.setSize(created, TOKEN + 1, 20, SetSize.END);
    assertValue(created, 20, "/t/k");
    store.setSize(next, TOKEN, LENGTH, SetSize.END);
    assertValue(next, LENGTH, "/t/k");
  }

  @Test
  void aPutInThePlaceOfOneWithoutAValueShowsThatThereIsNone() throws Exception {
    long first = begin("/t/k", LENGTH, TOKEN).id();
    assertTrue(found("/t/k").isBeingPut());
    long second = begin("/t/k", LENGTH, TOKEN + 1).id();
    assertEquals(second, found("/t/k").id());
    refused(ErrorCode.STALE_NODE, () -> store.setSize(first, TOKEN, LENGTH, SetSize.END));
    store.setSize(second, TOKEN + 1, 0, SetSize.END);
    assertTrue(found("/t/k").isAbandoned());
    long third = begin("/t/k", LENGTH, TOKEN).id();
    assertTrue(found("/t/k").isBeingPut());
    store.setSize(third, TOKEN, LENGTH, SetSize.END);
    assertValue(third, LENGTH, "/t/k");
  }

  @Test
  void aRemovalOfTheOldValueEndsThePut() throws Exception {
    put("/t/k", OLD_LENGTH, OLD);
    long deleted = begin("/t/k", LENGTH, TOKEN).id();
    store.remove("/t/k", false);
    refused(ErrorCode.NODE_NOT_FOUND, () -> found("/t/k"));
    refused(ErrorCode.STALE_NODE, () -> store.setSize(deleted, TOKEN, LENGTH, SetSize.END));
    refused(ErrorCode.NODE_NOT_FOUND, () -> found("/t/k"));
    store.namenode.verify();

    put("/t/k", OLD_LENGTH, OLD);
    long overwritten = begin("/t/k", LENGTH, TOKEN).id();
    long other = put("/t/other", OLD_LENGTH, OLD).id();
    store.renameOver("/t/other", "/t/k");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(overwritten, TOKEN, LENGTH, SetSize.END));
    assertValue(other, OLD_LENGTH, "/t/k");
    store.namenode.verify();

    long dismantled = begin("/t/k", LENGTH, TOKEN).id();
    store.remove("/t", true);
    refused(ErrorCode.STALE_NODE, () -> store.setSize(dismantled, TOKEN, LENGTH, SetSize.END));
    store.passAlive(1_000, datanode);
    assertEquals(0, store.usage(0).usedBytes());
    store.create(NodeType.TABLE, "/t", 0);
  }

  @Test
  void anOldValueThatIsRenamedLeavesTheNameToThePut() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    long id = begin("/t/k", LENGTH, TOKEN).id();
    store.rename("/t/k", "/t/moved");
    assertValue(old, OLD_LENGTH, "/t/moved");
    assertTrue(found("/t/k").isBeingPut());
    assertEquals(List.of("k", "moved"), store.list(table, 100).stream().sorted().toList());
    store.namenode.verify();
    store.setSize(id, TOKEN, LENGTH, SetSize.END);
    assertValue(id, LENGTH, "/t/k");
    assertValue(old, OLD_LENGTH, "/t/moved");
  }

  @Test
  void anOldValueThatIsRenamedTakesNothingAlongOfAWriterThatVanished() throws Exception {
    final long old = put("/t/k", OLD_LENGTH, OLD).id();
    long id = begin("/t/k", LENGTH, TOKEN).id();
    store.passAlive(11_000, datanode);
    store.rename("/t/k", "/t/moved");
    assertValue(old, OLD_LENGTH, "/t/moved");
    refused(ErrorCode.NODE_NOT_FOUND, () -> found("/t/k"));
    refused(ErrorCode.STALE_NODE, () -> store.acquire(id, TOKEN));
  }

  private ErrorCode tried(Step step) {
    try {
      step.run();
      return null;
    } catch (CrailException e) {
      return e.code();
    }
  }

  private interface Step {
    void run() throws CrailException;
  }

  /**
   * Any order of puts, ends, renames, removals and lost leases leaves no node and no space over.
   */
  @Test
  void everyOrderAddsUp() throws Exception {
    long seed = TestStore.seed();
    Random random = new Random(seed);
    long[] begun = new long[8];
    for (int i = 0; i < 3_000; i++) {
      String key = "/t/" + random.nextInt(3);
      int which = random.nextInt(begun.length);
      long token = 20 + which;
      ErrorCode code =
          switch (random.nextInt(9)) {
            case 0, 1, 2 -> tried(() -> begun[which] = begin(key, LENGTH, token).id());
            case 3, 4 ->
                tried(
                    () ->
                        store.setSize(
                            begun[which],
                            token,
                            random.nextInt(3) * LENGTH / 2,
                            random.nextInt(SetSize.EXPIRE + 1)));
            case 5 -> tried(() -> store.rename(key, "/t/" + random.nextInt(3)));
            case 6 -> tried(() -> store.renameOver(key, "/t/" + random.nextInt(3)));
            case 7 ->
                tried(
                    () ->
                        store.call(
                            NameNodeOperations.REMOVE, new Remove.Request(false, Utf8.of(key))));
            default ->
                tried(() -> store.passAlive(random.nextInt(20) == 0 ? 11_000 : 100, datanode));
          };
      assertTrue(code != ErrorCode.INTERNAL, "seed " + seed);
      if (i % 50 == 0) {
        store.namenode.verify();
      }
    }
  }
}
