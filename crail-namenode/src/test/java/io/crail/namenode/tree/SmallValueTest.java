/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.Refusals;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.namenode.memory.ValueMemory;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.space.SmallValues;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Values whose bytes the namenode holds. */
class SmallValueTest {
  private static final int MOST = 100;
  private static final long TOKEN = 9;

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    start("1m");
  }

  private void start(String memory) throws CrailException {
    store =
        new TestStore(
            "crail.namenode.smallvalue",
            String.valueOf(MOST),
            "crail.namenode.smallvalues",
            memory);
    datanode = store.datanode(8L << 20);
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  private static byte[] bytes(int length, int value) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  /** The create of a value that its writer goes on to write. */
  private static Create.Request announcement(String path, long wanted) {
    return new Create.Request(
        NodeType.KEYVALUE,
        true,
        false,
        false,
        0644,
        Create.PARENT_CLASS,
        TOKEN,
        wanted,
        Utf8.of(path),
        Utf8.EMPTY);
  }

  /** As a client puts a value: kept here, or with a lease and space for all bytes. */
  private Put.Response offer(String path, byte[] value) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, TOKEN, value));
  }

  /** As a client puts a value that is too long to be kept. */
  private Put.Response offer(String path, long length) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, TOKEN, length));
  }

  /** Puts a value that is kept, or refused. */
  private NodeInfo put(String path, byte[] value) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, 0, value)).node();
  }

  private NodeInfo end(long id, byte[] value) throws CrailException {
    SetSize.Request request =
        new SetSize.Request(id, TOKEN, value.length, SetSize.END, SmallValue.of(value));
    return store.call(NameNodeOperations.SET_SIZE, request).node();
  }

  private void assertSmall(byte[] expected, String path) throws CrailException {
    Lookup.Response found = store.lookup(path);
    assertArrayEquals(expected, found.value().bytes());
    assertEquals(expected.length, found.node().size());
    assertEquals(List.of(), found.extents());
  }

  private Usage.Response usage() throws CrailException {
    return store.call(NameNodeOperations.USAGE, new Usage.Request());
  }

  private void assertUnused() throws CrailException {
    assertEquals(0, usage().smallValueBytes());
    assertEquals(0, usage().classes().get(0).usedBytes());
  }

  @Test
  void aPutBringsItsValueAndALookupTakesIt() throws Exception {
    byte[] value = bytes(MOST, 1);
    NodeInfo node = put("/t/k", value);
    assertEquals(MOST, node.size());
    assertSmall(value, "/t/k");
    FindExtents.Response found = store.find(node.id(), 7);
    assertArrayEquals(value, found.value().bytes());
    assertEquals(List.of(), found.extents());
    Locations.Response locations =
        store.call(NameNodeOperations.LOCATIONS, new Locations.Request(node.id(), 0, MOST));
    assertEquals(MOST, locations.size());
    assertEquals(List.of(), locations.extents());
    assertEquals(ValueMemory.footprint(MOST), usage().smallValueBytes());
    assertEquals(0, usage().classes().get(0).usedBytes());
    // Whoever only asks whether the node is there gets no bytes.
    FindExtents.Response asked =
        store.call(
            NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(node.id(), MOST + 1, 0));
    assertEquals(new FindExtents.Response(MOST, List.of(), SmallValue.NONE), asked);
    // No client has a lease, so another put or an append is free to come.
    store.acquire(node.id(), 5);
  }

  @Test
  void aPutTakesThePlaceOfTheOldValueAtOnce() throws Exception {
    NodeInfo old = put("/t/k", bytes(10, 1));
    put("/t/k", bytes(20, 2));
    assertSmall(bytes(20, 2), "/t/k");
    Refusals.refused(ErrorCode.STALE_NODE, () -> store.find(old.id(), 0));
    assertEquals(ValueMemory.footprint(20), usage().smallValueBytes());
    NodeInfo large = store.write(store.create(NodeType.KEYVALUE, "/t/k", 9), 5000);
    assertEquals(0, usage().smallValueBytes());
    assertEquals(5000, large.size());
    put("/t/k", bytes(0, 0));
    assertSmall(bytes(0, 0), "/t/k");
    store.remove("/t", true);
    store.passAlive(30_000, datanode);
    assertUnused();
  }

  @Test
  void renameAndRemoveTakeTheValueAlong() throws Exception {
    put("/t/a", bytes(10, 1));
    put("/t/b", bytes(20, 2));
    store.renameOver("/t/a", "/t/b");
    assertSmall(bytes(10, 1), "/t/b");
    assertEquals(ValueMemory.footprint(10), usage().smallValueBytes());
    store.remove("/t/b", false);
    assertUnused();
  }

  @Test
  void forbiddenValuesAreRefusedWithoutEffect() throws Exception {
    put("/t/k", bytes(3, 3));
    store.mkdir("/d");
    long used = usage().smallValueBytes();
    Refusals.refused(ErrorCode.LIMIT_EXCEEDED, "/t/k", () -> put("/t/k", bytes(MOST + 1, 1)));
    Refusals.refused(ErrorCode.PARENT_NOT_FOUND, () -> put("/x/k", bytes(1, 1)));
    Refusals.refused(ErrorCode.WRONG_TYPE, () -> put("/d/k", bytes(1, 1)));
    for (Put.Request request :
        List.of(
            TestStore.put("/t/k", TOKEN, -1),
            TestStore.put("/t/k", TOKEN, 2, SmallValue.of(bytes(1, 1))),
            TestStore.put("/t/k", TOKEN, 0, SmallValue.of(bytes(1, 1))),
            TestStore.put("/t/k", 0, 5))) {
      Refusals.refused(
          ErrorCode.INVALID_ARGUMENT, () -> store.call(NameNodeOperations.PUT, request));
    }
    assertSmall(bytes(3, 3), "/t/k");
    assertEquals(used, usage().smallValueBytes());
  }

  @Test
  void memoryForSmallValuesHasALimit() throws Exception {
    start(String.valueOf(3 * ValueMemory.footprint(64)));
    for (int i = 0; i < 3; i++) {
      put("/t/" + i, bytes(64, i));
    }
    Refusals.refused(ErrorCode.NO_SPACE, "/t/3", () -> put("/t/3", bytes(1, 1)));
    // In the place of another one there is as much as that one has.
    put("/t/0", bytes(64, 5));
    Refusals.refused(ErrorCode.NO_SPACE, () -> put("/t/0", bytes(65, 1)));
    NodeInfo node = store.create(NodeType.KEYVALUE, "/t/4", TOKEN);
    Refusals.refused(ErrorCode.NO_SPACE, () -> end(node.id(), bytes(5, 5)));
    // Its lease has stayed, and its bytes find a place elsewhere.
    store.write(node, 5);
    store.remove("/t/1", false);
    put("/t/3", bytes(64, 3));
    assertSmall(bytes(64, 5), "/t/0");
    put("/t/0", bytes(1, 6));
    // And so it is for who appends to it.
    store.acquire(store.lookup("/t/0").node().id(), TOKEN);
    end(store.lookup("/t/0").node().id(), bytes(64, 6));
    assertSmall(bytes(64, 6), "/t/0");
  }

  @Test
  void theMemoryOfAnOldValueCountsAsFreeOnce() throws Exception {
    long capacity = ValueMemory.footprint(64);
    start(String.valueOf(capacity));
    put("/t/k", bytes(64, 1));
    SmallValues values = store.namenode.smallValues();
    AtomicReference<Runnable> afterLook = new AtomicReference<>(() -> {});
    Node made = store.namenode.tree().require(store.lookup("/t/k").node().id());
    Node old =
        new Node(made.id(), made.type(), 0, HostNames.ANY, made.flags(), made.attributes(), 0) {
          @Override
          public NodeSpace space() {
            NodeSpace seen = super.space();
            afterLook.getAndSet(() -> {}).run();
            return seen;
          }
        };
    old.place(made.parent(), ByteBuffer.wrap(new byte[] {'k'}), 0, 1, made.sequence());
    old.space(made.space());
    store.namenode.tree().names().replace(made, old);
    store.namenode.tree().ids().replace(made, old);
    Container.of(made).replace(made, old, 0);
    store.acquire(old.id(), TOKEN);
    store.extend(old.id(), TOKEN, 0, 8192);
    // The old one moves to its extents, and another value takes the memory that it had.
    Wire wire = Wire.connect(store.server, TestStore.CLIENT);
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    Thread mover =
        new Thread(
            () -> {
              try {
                wire.call(
                    NameNodeOperations.SET_SIZE,
                    new SetSize.Request(old.id(), TOKEN, 5000, SetSize.KEEP));
              } catch (CrailException e) {
                // The new value was there before.
              }
              taken.complete(values.take(values.of(64), null));
            });
    afterLook.set(
        () -> {
          mover.start();
          while (mover.isAlive() && mover.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
          }
        });
    put("/t/k", bytes(64, 2));
    taken.get(60, TimeUnit.SECONDS);
    assertTrue(values.used() <= capacity, values.used() + " of " + capacity);
  }

  @Test
  void aPutIsKeptOrHasALeaseAndSpace() throws Exception {
    start(String.valueOf(ValueMemory.footprint(64)));
    Put.Response kept = offer("/t/k", bytes(64, 1));
    assertEquals(64, kept.node().size());
    assertEquals(List.of(), kept.extents());
    assertEquals(0, store.namenode.leases().size());
    assertEquals(0, usage().classes().get(0).usedBytes());
    // In one step, whatever is the reason: no memory, or a value that is too long.
    for (int length : new int[] {65, MOST + 1}) {
      Put.Response created = offer("/t/k", bytes(length, 2));
      assertEquals(0, created.node().size());
      assertEquals(1, created.extents().size());
      // Until the new one is whole.
      assertSmall(bytes(64, length == 65 ? 1 : 3), "/t/k");
      store.setSize(created.node().id(), TOKEN, length, SetSize.END);
      assertEquals(0, usage().smallValueBytes());
      assertEquals(length, store.lookup("/t/k").node().size());
      put("/t/k", bytes(64, 3));
      assertEquals(0, usage().classes().get(0).usedBytes());
    }
  }

  @Test
  void aPutWithoutRoomLeavesTheOldValue() throws Exception {
    start(String.valueOf(ValueMemory.footprint(10)));
    put("/t/k", bytes(10, 1));
    store.write("/f", 7 << 20);
    for (long length : new long[] {(1 << 20) + 1, 2 << 20, 100L << 20}) {
      Refusals.refused(ErrorCode.NO_SPACE, "/t/k", () -> offer("/t/k", length));
      assertSmall(bytes(10, 1), "/t/k");
      assertEquals(7 << 20, usage().classes().get(0).usedBytes());
    }
    store.write("/g", 1 << 20);
    Refusals.refused(ErrorCode.NO_SPACE, "/t/k", () -> offer("/t/k", bytes(17, 2)));
    Refusals.refused(ErrorCode.NO_SPACE, "/t/new", () -> offer("/t/new", bytes(17, 2)));
    assertSmall(bytes(10, 1), "/t/k");
    assertEquals(0, store.namenode.leases().size());
    assertEquals(1, store.lookup("/t").node().childCount());
    put("/t/k", bytes(9, 2));
  }

  @Test
  void aPutHasSpaceForAllItsBytesFromTheBeginning() throws Exception {
    long length = (5 << 20) + 5000;
    Put.Response created = offer("/t/k", length);
    assertEquals(1, created.extents().size());
    assertEquals((5 << 20) + 8192, usage().classes().get(0).usedBytes());
    store.write("/f", 2 << 20);
    store.write(created.node(), length);
    assertEquals(length, store.lookup("/t/k").node().size());
  }

  @Test
  void aRequestForTooMuchTakesNothingFromOthers() throws Exception {
    for (int i = 0; i < 200; i++) {
      start("1m");
      store.write("/full", 7L << 20);
      store.create(NodeType.TABLE, "/u", 0);
      Wire wire = Wire.connect(store.server, 5);
      Put.Request tooMuch = TestStore.put("/u/large", 5, 2L << 20);
      AtomicBoolean over = new AtomicBoolean();
      CountDownLatch tries = new CountDownLatch(1);
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(
              () -> {
                while (!over.get()) {
                  CrailException refused =
                      assertThrows(
                          CrailException.class, () -> wire.call(NameNodeOperations.PUT, tooMuch));
                  assertEquals(ErrorCode.NO_SPACE, refused.code());
                  tries.countDown();
                }
              });
      try {
        assertTrue(tries.await(1, TimeUnit.MINUTES));
        assertEquals(1, offer("/t/k", 1L << 20).extents().size());
      } finally {
        over.set(true);
      }
      other.get(1, TimeUnit.MINUTES);
      store.namenode.verify();
    }
  }

  @Test
  void spaceIsMadeForAPut() throws Exception {
    store.mkdir("/d");
    for (int i = 0; i < 1000; i++) {
      store.write("/d/" + i, 8192);
    }
    store.remove("/d", true);
    assertTrue(usage().classes().get(0).usedBytes() > 4 << 20, "taken apart already");
    assertEquals(1, offer("/t/k", 7 << 20).extents().size());
  }

  @Test
  void removedValuesMakeRoomForOthers() throws Exception {
    int count = 1000;
    start(String.valueOf(count * ValueMemory.footprint(8)));
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < count; i++) {
        put("/t/" + i, bytes(8, i));
      }
      assertEquals(count * ValueMemory.footprint(8), usage().smallValueBytes());
      store.remove("/t", true);
      assertTrue(usage().smallValueBytes() > 0, "taken apart already");
      store.create(NodeType.TABLE, "/t", 0);
    }
    for (int i = 0; i < count; i++) {
      end(store.create(NodeType.KEYVALUE, "/t/" + i, TOKEN).id(), bytes(8, i));
    }
  }

  @Test
  void aFileHasNoValueUnlessTheNamenodeKeepsSmallFiles() throws Exception {
    NodeInfo node = store.create(NodeType.DATAFILE, "/f", TOKEN);
    Refusals.refused(ErrorCode.INVALID_ARGUMENT, () -> end(node.id(), bytes(4, 4)));
    assertEquals(0, store.setSize(node.id(), TOKEN, 0, SetSize.END).size());
  }

  @Test
  void aWriterEndsWithItsValue() throws Exception {
    NodeInfo node = store.create(NodeType.KEYVALUE, "/t/k", TOKEN);
    assertEquals(4, end(node.id(), bytes(4, 4)).size());
    assertSmall(bytes(4, 4), "/t/k");
    assertEquals(ValueMemory.footprint(4), usage().smallValueBytes());
    Refusals.refused(ErrorCode.WRITE_LEASE_LOST, () -> end(node.id(), bytes(6, 6)));
    AcquireLease.Response again = store.acquire(node.id(), TOKEN);
    assertArrayEquals(bytes(4, 4), again.value().bytes());
    // It only grows.
    Refusals.refused(ErrorCode.INVALID_ARGUMENT, () -> end(node.id(), bytes(3, 3)));
    Refusals.refused(
        ErrorCode.INVALID_ARGUMENT,
        () ->
            store.call(
                NameNodeOperations.SET_SIZE,
                new SetSize.Request(
                    node.id(), TOKEN, 6, SetSize.KEEP, SmallValue.of(bytes(6, 6)))));
    end(node.id(), bytes(6, 6));
    assertSmall(bytes(6, 6), "/t/k");
    assertEquals(ValueMemory.footprint(6), usage().smallValueBytes());
    store.acquire(node.id(), TOKEN);
    assertEquals(6, store.setSize(node.id(), TOKEN, 6, SetSize.END).size());
    assertSmall(bytes(6, 6), "/t/k");
  }

  @Test
  void spaceThatASmallValueDoesNotNeedComesBack() throws Exception {
    Create.Response created = store.call(NameNodeOperations.CREATE, announcement("/t/k", 100_000));
    assertEquals(1, created.extents().size());
    assertTrue(created.extents().get(0).length() >= 100_000);
    end(created.node().id(), bytes(8, 8));
    assertSmall(bytes(8, 8), "/t/k");
    assertEquals(0, usage().classes().get(0).usedBytes());
    assertEquals(0, usage().classes().get(0).waitingBytes());
  }

  @Test
  void spaceThatWasAskedForRestsWhenTheValueIsSmall() throws Exception {
    // Where a write that is still on its way could not be refused.
    store = new TestStore("crail.namenode.smallvalue", String.valueOf(MOST));
    datanode = store.datanode(1, "host", 0, false, 8L << 20);
    store.create(NodeType.TABLE, "/t", 0);
    long id = store.call(NameNodeOperations.CREATE, announcement("/t/k", 5000)).node().id();
    store.extend(id, TOKEN, 0, 20_000);
    final long used = usage().classes().get(0).usedBytes();
    end(id, bytes(8, 8));
    assertSmall(bytes(8, 8), "/t/k");
    assertTrue(used >= 20_000, used + " bytes");
    assertEquals(0, usage().classes().get(0).usedBytes());
    assertEquals(used, usage().classes().get(0).waitingBytes());
    store.passAlive(16_200, datanode);
    assertEquals(0, usage().classes().get(0).waitingBytes());
  }

  @Test
  void aValueThatWasRefusedIsWrittenUnderThatLease() throws Exception {
    start(String.valueOf(ValueMemory.footprint(64)));
    put("/t/full", bytes(64, 1));
    long id = store.call(NameNodeOperations.CREATE, announcement("/t/k", 5000)).node().id();
    Refusals.refused(ErrorCode.NO_SPACE, () -> end(id, bytes(8, 8)));
    assertEquals(8192, usage().classes().get(0).usedBytes());
    store.setSize(id, TOKEN, 8, SetSize.END);
    assertEquals(8, store.lookup("/t/k").node().size());
    assertEquals(1, store.lookup("/t/k").extents().size());
    assertEquals(ValueMemory.footprint(64), usage().smallValueBytes());
  }

  @Test
  void aCreateWithoutSpaceForTheFirstExtentIsACreate() throws Exception {
    store.write("/full", 8L << 20);
    Create.Response created = store.call(NameNodeOperations.CREATE, announcement("/t/k", 100));
    assertEquals(List.of(), created.extents());
    Refusals.refused(ErrorCode.NO_SPACE, () -> store.extend(created.node().id(), TOKEN, 0, 100));
    end(created.node().id(), bytes(8, 8));
  }

  @Test
  void theFirstExtentIsOneHoweverSmallThePiecesAre() throws Exception {
    store = new TestStore("crail.namenode.smallvalue", "100");
    datanode = store.datanode(1 << 20);
    store.create(NodeType.TABLE, "/t", 0);
    for (int i = 0; i < 16; i++) {
      store.write("/f" + i, 1 << 16);
    }
    for (int i = 0; i < 16; i += 2) {
      store.remove("/f" + i, false);
    }
    // In the place of a value, so that a create which fails after its end would be seen.
    put("/t/k", bytes(5, 5));
    Create.Response created = store.call(NameNodeOperations.CREATE, announcement("/t/k", 100_000));
    assertEquals(1, created.extents().size());
    assertEquals(1 << 16, created.extents().get(0).length());
    List<Extent> rest = store.extend(created.node().id(), TOKEN, 1 << 16, 100_000 - (1 << 16));
    assertEquals(1 << 16, rest.get(0).fileOffset());
    assertEquals(100_000, store.setSize(created.node().id(), TOKEN, 100_000, SetSize.END).size());
  }

  @Test
  void aValueThatGrowsMovesWhenMoreIsCommitted() throws Exception {
    NodeInfo node = put("/t/k", bytes(40, 4));
    store.acquire(node.id(), TOKEN);
    Refusals.refused(ErrorCode.OUT_OF_RANGE, () -> store.extend(node.id(), TOKEN, 40, 10));
    List<Extent> extents = store.extend(node.id(), TOKEN, 0, 5000);
    assertEquals(0, extents.get(0).fileOffset());
    assertSmall(bytes(40, 4), "/t/k");
    assertArrayEquals(bytes(40, 4), store.find(node.id(), 0).value().bytes());
    store.setSize(node.id(), TOKEN, 5000, SetSize.KEEP);
    Lookup.Response moved = store.lookup("/t/k");
    assertEquals(5000, moved.node().size());
    assertEquals(SmallValue.NONE, moved.value());
    assertEquals(0, usage().smallValueBytes());
    store.extend(node.id(), TOKEN, extents.get(extents.size() - 1).fileEnd(), 100);
    Refusals.refused(ErrorCode.INVALID_ARGUMENT, () -> end(node.id(), bytes(MOST, 1)));
    store.setSize(node.id(), TOKEN, 5000, SetSize.END);
    store.remove("/t/k", false);
    store.passAlive(30_000, datanode);
    assertUnused();
  }

  @Test
  void aValueWhoseMoveWasNotCommittedStaysWhereItWas() throws Exception {
    NodeInfo node = put("/t/k", bytes(40, 4));
    store.acquire(node.id(), TOKEN);
    store.extend(node.id(), TOKEN, 0, 5000);
    store.setSize(node.id(), TOKEN, 40, SetSize.END);
    assertSmall(bytes(40, 4), "/t/k");
    assertEquals(0, usage().classes().get(0).usedBytes());
    // The same for a writer that vanishes.
    store.acquire(node.id(), TOKEN);
    store.extend(node.id(), TOKEN, 0, 5000);
    store.passAlive(30_000, datanode);
    assertSmall(bytes(40, 4), "/t/k");
    assertEquals(0, usage().classes().get(0).usedBytes());
    // And for one whose node is removed meanwhile.
    store.acquire(node.id(), TOKEN);
    store.extend(node.id(), TOKEN, 0, 5000);
    store.remove("/t/k", false);
    store.passAlive(30_000, datanode);
    assertUnused();
  }

  @Test
  void aValueTakesTheHeapThatIsCountedForIt() {
    SmallValues all = store.namenode.smallValues();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    SmallBytes[] values = new SmallBytes[10_000];
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < values.length; i++) {
      values[i] = all.of(MOST);
    }
    long each = (threads.getCurrentThreadAllocatedBytes() - before) / values.length;
    assertEquals(
        values.length * (long) MOST, Arrays.stream(values).mapToLong(NodeSpace::size).sum());
    assertEquals(SmallBytes.HEAP, each);
  }

  @Test
  void isShownInADump() throws Exception {
    put("/t/k", bytes(40, 4));
    String text = store.call(NameNodeOperations.DUMP, new Dump.Request(0)).text().toString();
    assertTrue(text.contains("small values " + ValueMemory.footprint(40) + " bytes"), text);
    assertTrue(text.lines().anyMatch(line -> line.contains("/t/k") && line.endsWith(" small")));
  }

  @Test
  void noneWhereTheyAreTurnedOff() throws Exception {
    store = new TestStore("crail.namenode.smallvalue", "0");
    store.create(NodeType.TABLE, "/t", 0);
    Refusals.refused(ErrorCode.LIMIT_EXCEEDED, () -> put("/t/k", bytes(1, 1)));
    assertEquals(0, put("/t/k", bytes(0, 0)).size());
  }

  @Test
  void randomRequestsAddUp() throws Exception {
    long seed = TestStore.seed();
    Random random = new Random(seed);
    start(String.valueOf(20 * ValueMemory.footprint(50)));
    for (int i = 0; i < 5000; i++) {
      String path = "/t/" + random.nextInt(8);
      try {
        step(random, path);
      } catch (CrailException e) {
        // Refused: then nothing may have changed for the accounts.
      }
      if (i % 50 == 0) {
        store.namenode.verify();
      }
    }
    store.remove("/t", true);
    store.passAlive(30_000, datanode);
    store.namenode.verify();
    assertUnused();
  }

  private void step(Random random, String path) throws CrailException {
    int length = random.nextInt(MOST + 10);
    switch (random.nextInt(8)) {
      case 0 -> put(path, bytes(length, 1));
      case 1 -> {
        if (random.nextBoolean()) {
          offer(path, bytes(length, 1));
        } else {
          offer(path, (long) random.nextInt(4 << 20));
        }
      }
      case 2 -> {
        long id = store.create(NodeType.KEYVALUE, path, TOKEN).id();
        if (random.nextBoolean()) {
          end(id, bytes(length, 1));
        }
      }
      case 3 -> store.remove(path, false);
      case 4 -> store.renameOver(path, "/t/" + random.nextInt(8));
      case 5 -> store.acquire(store.lookup(path).node().id(), TOKEN);
      case 6 -> store.extend(store.lookup(path).node().id(), TOKEN, 0, random.nextInt(20_000));
      default -> {
        NodeInfo node = store.lookup(path).node();
        if (random.nextBoolean()) {
          end(node.id(), bytes(length, 1));
        } else {
          store.setSize(node.id(), TOKEN, random.nextInt(5000), random.nextInt(3));
        }
      }
    }
    if (random.nextInt(100) == 0) {
      store.passAlive(30_000, datanode);
    }
  }
}
