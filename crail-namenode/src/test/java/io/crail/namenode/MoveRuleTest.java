/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.rule.DatanodeRule;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.Place;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how extents move to other datanodes, and what keeps them where they are. */
class MoveRuleTest {
  private static final long TOKEN = 9;
  private static final long MOVE = 4711;
  private static final int LEASE = 10_000;
  private static final int MARGIN = 500;

  /** Two signs of life. */
  private static final int PRESENT = 4000;

  private TestStore store;
  private int first;
  private int second;

  @BeforeEach
  void start() throws Exception {
    start(true);
  }

  private void start(boolean checks) throws Exception {
    store = new TestStore("crail.namenode.freemargin", MARGIN + "ms");
    first = store.datanode(1, "one", 0, checks, 8L << 20);
    second = store.datanode(2, "two", 0, checks, 8L << 20);
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  private BeginMove.Response begin(long id, Extent extent) throws CrailException {
    return begin(id, extent, BeginMove.ANY_DATANODE);
  }

  private BeginMove.Response begin(long id, Extent extent, int datanode) throws CrailException {
    return store.call(NameNodeOperations.BEGIN_MOVE, request(id, extent, datanode));
  }

  private static BeginMove.Request request(long id, Extent extent, int datanode) {
    return new BeginMove.Request(id, MOVE, extent.fileOffset(), extent.place(), datanode);
  }

  private void commit(long id, Extent extent, BeginMove.Response begun) throws CrailException {
    store.call(
        NameNodeOperations.COMMIT_MOVE,
        new CommitMove.Request(
            id,
            MOVE,
            begun.grant(),
            begun.bytes(),
            extent.fileOffset(),
            extent.place(),
            begun.target()));
  }

  /** An extent where its copy is. */
  private static Extent copy(Extent extent, BeginMove.Response begun) {
    return new Extent(extent.fileOffset(), extent.length(), begun.target());
  }

  private static Extent extent(Placed placed) {
    return new Extent(placed.fileOffset(), placed.length(), placed.place());
  }

  private List<Placed> list(int datanode) throws CrailException {
    List<Placed> all = new ArrayList<>();
    ListExtents.Request request = new ListExtents.Request(datanode, 0, 0, 0);
    while (request.cursor() != -1) {
      ListExtents.Response page = store.call(NameNodeOperations.LIST_EXTENTS, request);
      all.addAll(page.extents());
      request = new ListExtents.Request(datanode, page.next(), page.id(), page.extent());
    }
    return all;
  }

  /** The extents of a node as movers see them. */
  private List<Extent> extents(long id) throws CrailException {
    return list(ListExtents.ANY_DATANODE).stream()
        .filter(placed -> placed.id() == id)
        .map(MoveRuleTest::extent)
        .toList();
  }

  private long waiting() {
    return store.usage(0).waitingBytes();
  }

  private void passAlive(long millis) throws CrailException {
    store.passAlive(millis, first, second);
  }

  private void tearDown(int datanode) throws CrailException {
    store.call(
        NameNodeOperations.REMOVE_DATANODE,
        datanode == first
            ? new RemoveDatanode.Request(true, 1001, Utf8.of("one"))
            : new RemoveDatanode.Request(true, 1002, Utf8.of("two")));
  }

  private int other(int datanode) {
    return datanode == first ? second : first;
  }

  @Test
  void anExtentMovesInOneStepAndItsSpaceRestsForALease() throws Exception {
    for (boolean checks : new boolean[] {true, false}) {
      start(checks);
      long id = store.write("/f", 2 * BLOCK + 100).id();
      List<Extent> before = store.find(id, 0).extents();
      List<Extent> placed = extents(id);
      Extent moved = placed.get(1);
      BeginMove.Response begun = begin(id, moved);
      assertEquals(BLOCK, begun.bytes());
      assertEquals(other(moved.place().datanode()), begun.target().datanode());
      assertEquals(before, store.find(id, 0).extents());
      assertEquals(BLOCK, waiting());
      commit(id, moved, begun);
      assertEquals(
          List.of(before.get(0), copy(moved, begun), before.get(2)), store.find(id, 0).extents());
      // Readers may have the old location, and their datanode must not end before.
      assertEquals(BLOCK, waiting());
      passAlive(LEASE + MARGIN - 100);
      assertEquals(BLOCK, waiting());
      passAlive(200);
      assertEquals(0, waiting());
      store.namenode.verify();
    }
  }

  @Test
  void theLastExtentIsAppendedToWhereItIsNow() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    assertEquals(100, begun.bytes());
    commit(id, placed, begun);
    assertEquals(copy(placed, begun), store.acquire(id, TOKEN).extents().get(0));
    store.setSize(id, TOKEN, 200, SetSize.END);
    assertEquals(copy(placed, begun).before(200), store.find(id, 0).extents().get(0));
    passAlive(LEASE + MARGIN + 100);
    assertEquals(0, waiting());
    store.remove("/f", false);
    assertEquals(0, store.usage(0).usedBytes());
  }

  @Test
  void extentsBeingWrittenStay() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    store.acquire(id, TOKEN);
    refused(
        ErrorCode.WRITE_LEASE_HELD,
        "/f (node " + id + "), client " + Long.toHexString(TestStore.CLIENT),
        () -> begin(id, placed));
    store.setSize(id, TOKEN, 100, SetSize.END);
    // A writer comes while the bytes are copied, and wins.
    BeginMove.Response begun = begin(id, placed);
    store.acquire(id, TOKEN + 1);
    refused(ErrorCode.WRITE_LEASE_HELD, "/f", () -> commit(id, placed, begun));
    assertEquals(0, waiting());
    assertEquals(placed, extents(id).get(0));
    // It has written to the extent and has gone.
    store.setSize(id, TOKEN + 1, 100, SetSize.END);
    BeginMove.Response again = begin(id, placed);
    store.acquire(id, TOKEN + 2);
    store.setSize(id, TOKEN + 2, 101, SetSize.END);
    refused(ErrorCode.STALE_EXTENT, "101", () -> commit(id, placed, again));
    assertEquals(0, waiting());
    assertEquals(placed, extents(id).get(0));
    // It has written elsewhere, and the bytes of the extent are what they were.
    store.setSize(store.acquire(id, TOKEN).node().id(), TOKEN, placed.length(), SetSize.END);
    BeginMove.Response third = begin(id, placed);
    store.acquire(id, TOKEN);
    store.extend(id, TOKEN, placed.length(), 5000);
    store.setSize(id, TOKEN, placed.length() + 5000, SetSize.END);
    commit(id, placed, third);
    assertEquals(copy(placed, third), store.find(id, 0).extents().get(0));
    assertEquals(placed.length() + 5000, store.find(id, 0).size());
  }

  @Test
  void aNodeThatIsGoneGetsNothing() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    assertEquals(placed.length(), waiting());
    store.remove("/f", false);
    refused(ErrorCode.STALE_NODE, () -> commit(id, placed, begun));
    refused(ErrorCode.STALE_NODE, () -> begin(id, placed));
    assertEquals(0, waiting());
    // One that was replaced, and one in a container that is gone.
    store.mkdir("/d");
    long inner = store.write("/d/f", 100).id();
    Extent innerPlaced = extents(inner).get(0);
    BeginMove.Response innerBegun = begin(inner, innerPlaced);
    store.replace("/d/f", TOKEN);
    refused(ErrorCode.STALE_NODE, () -> commit(inner, innerPlaced, innerBegun));
    long last = store.write("/d/g", 100).id();
    Extent lastPlaced = extents(last).get(0);
    BeginMove.Response lastBegun = begin(last, lastPlaced);
    store.remove("/d", true);
    refused(ErrorCode.STALE_NODE, () -> commit(last, lastPlaced, lastBegun));
    assertEquals(List.of(), list(ListExtents.ANY_DATANODE));
  }

  @Test
  void aNodeMayGetAnotherNameMeanwhile() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    store.rename("/f", "/g");
    commit(id, placed, begun);
    assertEquals(copy(placed, begun).before(100), store.lookup("/g").extents().get(0));
  }

  @Test
  void aMoverThatVanishesChangesNothing() throws Exception {
    for (boolean checks : new boolean[] {true, false}) {
      start(checks);
      long id = store.write("/f", BLOCK).id();
      Extent placed = extents(id).get(0);
      BeginMove.Response begun = begin(id, placed);
      // It may write there as long as a lease, and on a tier without checks it is cut off then.
      passAlive(LEASE + MARGIN - 100);
      assertEquals(placed.length(), waiting());
      passAlive(600);
      assertEquals(0, waiting());
      refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> commit(id, placed, begun));
      assertEquals(placed, extents(id).get(0));
      store.namenode.verify();
    }
  }

  @Test
  void aCommitTakesEffectOnce() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response lost = begin(id, placed);
    BeginMove.Response begun = begin(id, placed);
    assertNotEquals(lost.target(), begun.target());
    commit(id, placed, begun);
    refused(ErrorCode.STALE_EXTENT, () -> commit(id, placed, begun));
    // The space of the lost answer is of no use any more.
    refused(ErrorCode.STALE_EXTENT, () -> commit(id, placed, lost));
    assertEquals(placed.length(), waiting());
    // A late copy of a request does not undo a later move.
    Extent second = copy(placed, begun);
    BeginMove.Response back = begin(id, second);
    commit(id, second, back);
    refused(ErrorCode.STALE_EXTENT, () -> commit(id, placed, begun));
    assertEquals(copy(second, back), extents(id).get(0));
  }

  @Test
  void aWrongExtentOrNumberOfBytesIsRefused() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    for (Extent wrong :
        new Extent[] {
          new Extent(
              0,
              placed.length(),
              new Place(placed.place().datanode(), 0, 0, placed.place().generation() + 1)),
          new Extent(-1, 1, new Place(0, 0, 0, 0)),
          new Extent(BLOCK, 1, new Place(0, 0, 0, 0))
        }) {
      refused(ErrorCode.STALE_EXTENT, "/f", () -> begin(id, wrong));
    }
    BeginMove.Response begun = begin(id, placed);
    BeginMove.Response less = new BeginMove.Response(begun.grant(), 99, begun.target());
    refused(ErrorCode.STALE_EXTENT, "/f", () -> commit(id, placed, less));
    store.mkdir("/d");
    long container = store.lookup("/d").node().id();
    refused(ErrorCode.WRONG_TYPE, "/d", () -> begin(container, placed));
    refused(ErrorCode.STALE_NODE, () -> begin(id + 77, placed));
  }

  @Test
  void smallValuesLieNowhere() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    store.call(NameNodeOperations.PUT, TestStore.put("/t/k", TOKEN, new byte[100]));
    assertEquals(List.of(), list(ListExtents.ANY_DATANODE));
    long id = store.lookup("/t/k").node().id();
    Extent none = new Extent(0, 4096, new Place(first, 0, 0, 1));
    refused(ErrorCode.STALE_EXTENT, "/t/k", () -> begin(id, none));
  }

  @Test
  void theDatanodeOfTheCopyIsAnotherOneOfTheSameClass() throws Exception {
    int flash = store.datanode(3, "three", 1, true, 8L << 20);
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    int source = placed.place().datanode();
    int target = other(source);
    refused(ErrorCode.NO_SPACE, "class 0", () -> begin(id, placed, source));
    refused(ErrorCode.UNAVAILABLE, "/f", () -> begin(id, placed, flash));
    assertEquals(target, begin(id, placed, target).target().datanode());
    tearDown(target);
    refused(ErrorCode.UNAVAILABLE, "/f", () -> begin(id, placed, target));
    refused(ErrorCode.NO_SPACE, "class 0", () -> begin(id, placed));
  }

  @Test
  void anExtentThatFitsNowhereElseStays() throws Exception {
    long id = store.write("/f", BLOCK).id();
    Extent placed = extents(id).get(0);
    for (int i = 0; i < 14; i++) {
      store.write("/full" + i, BLOCK);
    }
    // The last whole block is split, wherever it is.
    store.write("/small", 100);
    refused(ErrorCode.NO_SPACE, "in one piece", () -> begin(id, placed));
    assertEquals(0, waiting());
  }

  @Test
  void theSourceMayDieMeanwhile() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    tearDown(placed.place().datanode());
    store.passAlive(LEASE, other(placed.place().datanode()));
    // What the copy had before is saved.
    commit(id, placed, begun);
    store.passAlive(2 * LEASE, other(placed.place().datanode()));
    assertEquals(copy(placed, begun).before(100), store.find(id, 0).extents().get(0));
    assertEquals(0, waiting());
  }

  @Test
  void theTargetMayDieMeanwhile() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    tearDown(begun.target().datanode());
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> commit(id, placed, begun));
    assertEquals(placed, extents(id).get(0));
    store.passAlive(3 * LEASE, placed.place().datanode());
    assertEquals(0, waiting());
  }

  /** A file of one extent that has moved. */
  private record Moved(long id, Extent from, Extent to) {}

  private Moved move(int bytes) throws CrailException {
    long id = store.write("/f", bytes).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    commit(id, placed, begun);
    return new Moved(id, placed, copy(placed, begun));
  }

  /** The commit was too early if the target was dead before, which no one knew yet. */
  @Test
  void aSilentTargetGivesTheNodeItsFormerExtentBack() throws Exception {
    for (boolean checks : new boolean[] {true, false}) {
      start(checks);
      Moved moved = move(100);
      store.passAlive(PRESENT - 200, moved.from.place().datanode());
      assertEquals(List.of(moved.to), extents(moved.id));
      store.passAlive(400, moved.from.place().datanode());
      assertEquals(List.of(moved.from), extents(moved.id));
      // Readers may still be on their way to the copy.
      assertEquals(moved.to.length(), waiting());
      store.namenode.verify();
      // It was not dead after all.
      passAlive(LEASE + MARGIN);
      assertEquals(0, waiting());
      BeginMove.Response again = begin(moved.id, moved.from);
      commit(moved.id, moved.from, again);
      passAlive(LEASE + MARGIN + 100);
      assertEquals(List.of(copy(moved.from, again)), extents(moved.id));
      assertEquals(0, waiting());
      store.namenode.verify();
    }
  }

  /** The kernel ends the connections of a process that is killed. */
  @Test
  void aTargetWhoseConnectionEndsGivesTheExtentBackAtOnce() throws Exception {
    Moved moved = move(100);
    Wire connection = Wire.connect(store.server, Hello.ROLE_DATANODE, TestStore.CLIENT + 2);
    connection.call(
        NameNodeOperations.KEEP_ALIVE,
        new KeepAlive.Request(moved.to.place().datanode(), false, 0, 0, -1, -1));
    store.pass(100);
    assertEquals(List.of(moved.to), extents(moved.id));
    connection.close();
    BeginMove.Request there = request(moved.id, moved.to, BeginMove.ANY_DATANODE);
    store.pass(100);
    assertEquals(List.of(moved.from), extents(moved.id));
    refused(
        ErrorCode.UNAVAILABLE,
        "/f",
        () -> begin(moved.id, moved.from, moved.to.place().datanode()));
    refused(ErrorCode.NO_SPACE, "/f", () -> begin(moved.id, moved.from));
    refused(ErrorCode.STALE_EXTENT, () -> store.call(NameNodeOperations.BEGIN_MOVE, there));
    // It has connected again.
    passAlive(100);
    assertEquals(moved.to.place().datanode(), begin(moved.id, moved.from).target().datanode());
  }

  /** A commit to a datanode that is known to be cut off is refused. */
  @Test
  void nothingIsCommittedToATargetThatIsLate() throws Exception {
    long id = store.write("/f", 100).id();
    Extent placed = extents(id).get(0);
    BeginMove.Response begun = begin(id, placed);
    store.passAlive(PRESENT + 100, placed.place().datanode());
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> commit(id, placed, begun));
    assertEquals(List.of(placed), extents(id));
  }

  /** A message that was sent before the move says nothing of the time after it. */
  @Test
  void theFormerExtentStaysUntilTheTargetHasHeardOfALaterTime() throws Exception {
    Moved moved = move(100);
    DatanodeRule datanodes = store.rule();
    long before =
        datanodes
            .keepAlive(TestStore.sign(moved.to.place().datanode(), 0), TestStore.caller(""))
            .number();
    for (int passed = 0; passed < 2 * LEASE; passed += 1000) {
      datanodes.keepAlive(TestStore.sign(moved.from.place().datanode(), 0), TestStore.caller(""));
      datanodes.keepAlive(
          TestStore.sign(moved.to.place().datanode(), before - 1), TestStore.caller(""));
      store.pass(1000);
    }
    assertEquals(moved.from.length(), waiting());
    datanodes.keepAlive(TestStore.sign(moved.to.place().datanode(), before), TestStore.caller(""));
    store.pass(100);
    assertEquals(0, waiting());
    assertEquals(List.of(moved.to), extents(moved.id));
  }

  @Test
  void appendedBytesOfACopyAreNotTakenBack() throws Exception {
    Moved moved = move(100);
    store.acquire(moved.id, TOKEN);
    store.setSize(moved.id, TOKEN, 101, SetSize.END);
    store.passAlive(PRESENT + 100, moved.from.place().datanode());
    assertEquals(List.of(moved.to), extents(moved.id));
    store.passAlive(LEASE + MARGIN, moved.from.place().datanode());
    assertEquals(0, waiting());
  }

  /** It may have written to the copy, and has not said so yet. */
  @Test
  void aWriterIsAwaitedBeforeTheExtentComesBack() throws Exception {
    Moved moved = move(9000);
    store.acquire(moved.id, TOKEN);
    store.passAlive(PRESENT + 100, moved.from.place().datanode());
    assertEquals(List.of(moved.to), extents(moved.id));
    // It vanishes without a word, so the extent is sealed.
    store.passAlive(LEASE + MARGIN + 1000, moved.from.place().datanode());
    assertEquals(List.of(moved.from.before(9000)), extents(moved.id));
    store.namenode.verify();
    tearDown(moved.to.place().datanode());
    store.passAlive(LEASE, moved.from.place().datanode());
    assertEquals(0, waiting());
  }

  @Test
  void anExtentDoesNotGoBackToADatanodeThatIsNoBetter() throws Exception {
    Moved moved = move(100);
    store.pass(PRESENT + 100);
    assertEquals(List.of(moved.to), extents(moved.id));
    assertEquals(moved.from.length(), waiting());
    // The target is back first.
    store.passAlive(100, moved.to.place().datanode());
    store.pass(PRESENT + 100);
    store.passAlive(100, moved.from.place().datanode());
    assertEquals(List.of(moved.from), extents(moved.id));
  }

  @Test
  void aDeadTargetGivesTheExtentBackEvenToASilentSource() throws Exception {
    Moved moved = move(100);
    store.pass(20_000);
    tearDown(moved.to.place().datanode());
    store.pass(100);
    assertEquals(List.of(moved.from), extents(moved.id));
    store.passAlive(100, moved.from.place().datanode());
    assertEquals(0, waiting());
  }

  @Test
  void aNodeThatIsDeletedAfterItsMoveNeedsNothingBack() throws Exception {
    Moved moved = move(100);
    store.remove("/f", false);
    store.passAlive(2 * LEASE, moved.from.place().datanode());
    assertEquals(0, waiting());
    assertEquals(0, store.usage(0).usedBytes());
  }

  @Test
  void aSealedExtentStaysSealed() throws Exception {
    for (boolean checks : new boolean[] {true, false}) {
      start(checks);
      long id = store.create(NodeType.DATAFILE, "/f", TOKEN).id();
      store.extend(id, TOKEN, 0, 10_000);
      store.setSize(id, TOKEN, 9000, SetSize.KEEP);
      passAlive(LEASE + MARGIN);
      Extent sealed = extents(id).get(0);
      assertEquals(9000, sealed.length());
      assertEquals(16_384, list(ListExtents.ANY_DATANODE).get(0).allocatedLength());
      BeginMove.Response begun = begin(id, sealed);
      assertEquals(9000, begun.bytes());
      commit(id, sealed, begun);
      assertEquals(copy(sealed, begun), extents(id).get(0));
      // The next writer continues in another extent, as before.
      assertEquals(List.of(), store.acquire(id, TOKEN + 1).extents());
      assertEquals(9000, store.extend(id, TOKEN + 1, 9000, 1).get(0).fileOffset());
      store.setSize(id, TOKEN + 1, 9001, SetSize.END);
      passAlive(LEASE + 4 * MARGIN);
      assertEquals(0, waiting());
      store.namenode.verify();
    }
  }

  @Test
  void aDatanodeEndsALeaseAfterItsLastExtentHasMoved() throws Exception {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      ids.add(store.write("/f" + i, BLOCK / 2 + i).id());
    }
    tearDown(first);
    List<Placed> there = list(first);
    assertFalse(there.isEmpty());
    for (Placed placed : there) {
      assertEquals(first, placed.place().datanode());
      commit(placed.id(), extent(placed), begin(placed.id(), extent(placed)));
    }
    assertEquals(List.of(), list(first));
    passAlive(LEASE + MARGIN - 100);
    assertFalse(store.rule().keepAlive(TestStore.sign(first, 0), TestStore.caller("")).stop());
    passAlive(200);
    assertTrue(store.rule().keepAlive(TestStore.sign(first, 0), TestStore.caller("")).stop());
    for (long id : ids) {
      assertTrue(extents(id).stream().allMatch(extent -> extent.place().datanode() == second));
    }
  }

  @Test
  void aListComesInPages() throws Exception {
    store = new TestStore("crail.blocksize", "4096");
    first = store.datanode(1, "one", 0, true, 16L << 20);
    second = first;
    for (int i = 0; i < 50; i++) {
      store.write("/small" + i, 100);
    }
    long large = store.write("/large", 4096L * 3000).id();
    ListExtents.Response page =
        store.call(NameNodeOperations.LIST_EXTENTS, new ListExtents.Request(first, 0, 0, 0));
    assertTrue(page.extents().size() <= ListExtents.MAX_EXTENTS);
    List<Placed> all = list(first);
    assertEquals(3050, all.size());
    assertEquals(3050, new HashSet<>(all).size());
    assertEquals(3000, all.stream().filter(placed -> placed.id() == large).count());
    assertEquals(all.size(), list(ListExtents.ANY_DATANODE).size());
    assertEquals(List.of(), list(first + 1));
    assertTrue(Stream.of(-5L, 1L << 60).allMatch(this::isEmptyOrAPage));
  }

  private boolean isEmptyOrAPage(long cursor) {
    try {
      return store
              .call(
                  NameNodeOperations.LIST_EXTENTS,
                  new ListExtents.Request(first, cursor, Long.MIN_VALUE, -7))
              .extents()
              .size()
          <= ListExtents.MAX_EXTENTS;
    } catch (CrailException e) {
      return false;
    }
  }
}
