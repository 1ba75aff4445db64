/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.link;
import static io.crail.namenode.Steps.of;
import static io.crail.namenode.Steps.read;
import static io.crail.namenode.Steps.set;
import static io.crail.namenode.Steps.settle;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.DirectoryUsage;
import io.crail.compound.StepKind;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bytes that are staged, and linked to a key by a list of steps, or not. */
@Timeout(120)
class StagedBytesTest {
  private static final long TOKEN = 9;
  private static final long ALL = 64L << 20;
  private static final long LENGTH = 200_000;
  private static final long SPACE = 256 << 10;
  private static final int LEASE_MILLIS = 15_000;

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.namenode.freemargin", "500ms");
    datanode = store.datanode(ALL);
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void everythingAddsUp() throws Exception {
    store.namenode.verify();
    store.passAlive(LEASE_MILLIS, datanode);
    store.namenode.verify();
    store.remove("/t", true);
    store.pass(100);
    store.passAlive(LEASE_MILLIS, datanode);
    store.namenode.verify();
    assertEquals(ALL, store.usage(0).freeBytes());
  }

  private long stage(String path, long length) throws CrailException {
    NodeInfo node = store.call(NameNodeOperations.STAGE, TestStore.put(path, TOKEN, length)).node();
    assertEquals(NodeInfo.STAGED, node.flags() & NodeInfo.STAGED);
    return node.id();
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of(path), List.of(steps)));
  }

  private Operate.Response done(String path, CompoundStep... steps) throws CrailException {
    Operate.Response response = operate(path, steps);
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
    return response;
  }

  private void fails(ErrorCode code, int step, String path, CompoundStep... steps)
      throws CrailException {
    Operate.Response response = operate(path, steps);
    assertEquals(step, response.failed(), response.toString());
    assertEquals(code.number(), response.results().get(step).code(), response.toString());
  }

  /** The extents of a node hold all of its bytes, one after the other. */
  private List<Extent> extents(long id, long size) throws CrailException {
    assertEquals(size, store.find(id, 0).size());
    List<Extent> extents = new ArrayList<>();
    for (long at = 0; at < size; ) {
      for (Extent extent : store.find(id, at).extents()) {
        assertEquals(at, extent.fileOffset());
        at = extent.fileEnd();
        extents.add(extent);
      }
    }
    assertEquals(size, extents.get(extents.size() - 1).fileEnd());
    return extents;
  }

  @Test
  void guardsDecideWhetherStagedBytesReplaceAValue() throws Exception {
    done("/t/k", create(), append("old"), set("a", "1"), of(StepKind.RAISE_EPOCH, 7));
    store.call(
        NameNodeOperations.SET_ATTRIBUTES,
        new SetAttributes.Request(
            SetAttributes.PERMISSIONS | SetAttributes.OWNER,
            0600,
            0,
            0,
            Utf8.of("/t/k"),
            Utf8.of("other"),
            Utf8.EMPTY));
    final NodeInfo old = store.lookup("/t/k").node();
    long id = stage("/t/k", LENGTH);
    store.namenode.verify();
    assertEquals(List.of("k"), store.list(store.lookup("/t").node().id(), 10));
    fails(
        ErrorCode.CONDITION_FAILED,
        1,
        "/t/k",
        link(id, TOKEN, LENGTH, false),
        of(StepKind.VERSION, 5));
    assertEquals(old, store.lookup("/t/k").node());
    store.namenode.verify();

    Operate.Response linked =
        done(
            "/t/k",
            of(StepKind.EPOCH, 7),
            of(StepKind.ID, old.id()),
            link(id, TOKEN, LENGTH, false),
            of(StepKind.SIZE, LENGTH),
            set("b", "2"));
    assertEquals(id, linked.id());
    assertEquals(LENGTH, linked.size());
    assertEquals(LENGTH, linked.results().get(2).number());
    assertEquals(2, linked.version());
    assertEquals(7, linked.epoch());
    NodeInfo node = store.lookup("/t/k").node();
    assertEquals(id, node.id());
    assertEquals(NodeInfo.ENUMERABLE | NodeInfo.EXTENDED, node.flags());
    assertEquals(old.permissions(), node.permissions());
    assertEquals(old.owner(), node.owner());
    assertEquals(2, done("/t/k", of(StepKind.READ_ATTRIBUTES)).results().get(0).number());
    extents(id, LENGTH);
    refused(ErrorCode.STALE_NODE, () -> store.find(old.id(), 0));
    assertEquals(List.of("k"), store.list(store.lookup("/t").node().id(), 10));
    assertEquals(SPACE, store.usage(0).usedBytes());
    // They are linked, so their writer has no lease any more.
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.setSize(id, TOKEN, 0, SetSize.END));
    fails(ErrorCode.STALE_NODE, 0, "/t/k", link(id, TOKEN, LENGTH, false));
    store.passAlive(LEASE_MILLIS, datanode);
    assertEquals(id, store.lookup("/t/k").node().id());
    // The next ones take the place of these.
    long next = stage("/t/k", 5000);
    done("/t/k", of(StepKind.VERSION, 2), link(next, TOKEN, 5000, false));
    extents(next, 5000);
    refused(ErrorCode.STALE_NODE, () -> store.find(id, 0));
  }

  @Test
  void stagedBytesMakeAKey() throws Exception {
    long id = stage("/t/k", LENGTH);
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/t/k"));
    fails(ErrorCode.NODE_NOT_FOUND, 0, "/t/k", link(id, TOKEN, LENGTH, false));
    Operate.Response made =
        done("/t/k", of(StepKind.ABSENT), create(), link(id, TOKEN, LENGTH, true), set("a", "1"));
    assertEquals(id, made.id());
    assertEquals(1, made.version());
    NodeInfo node = store.lookup("/t/k").node();
    assertEquals(0640, node.permissions());
    assertEquals(LENGTH, node.size());
    assertFalse(node.isBeingPut());
    extents(id, LENGTH);
    // And one in the place of a key that the list has removed.
    long next = stage("/t/k", 5000);
    Operate.Response again =
        done("/t/k", of(StepKind.DELETE), create(), link(next, TOKEN, 5000, false));
    assertEquals(next, again.id());
    assertEquals(1, again.version());
    assertEquals(5000, store.lookup("/t/k").node().size());
    store.remove("/t/k", false);
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/t/k"));
  }

  @Test
  void stagedBytesGoBehindOthers() throws Exception {
    long first = stage("/t/k", LENGTH);
    done("/t/k", create(), link(first, TOKEN, LENGTH, true), set("a", "1"));
    long second = stage("/t/k", 3_000_001);
    Operate.Response joined = done("/t/k", link(second, TOKEN, 3_000_001, true));
    assertEquals(first, joined.id());
    assertEquals(LENGTH + 3_000_001, joined.size());
    assertEquals(LENGTH + 3_000_001, joined.results().get(0).number());
    refused(ErrorCode.STALE_NODE, () -> store.find(second, 0));
    long third = stage("/t/k", 1);
    done("/t/k", link(third, TOKEN, 1, true));
    extents(first, LENGTH + 3_000_002);
    assertEquals(1, done("/t/k", of(StepKind.READ_ATTRIBUTES)).results().get(0).number());
    // A stream goes on behind them.
    store.acquire(first, TOKEN);
    store.extend(first, TOKEN, LENGTH + 3_000_002, 10_000);
    store.setSize(first, TOKEN, LENGTH + 3_010_002, SetSize.END);
    extents(first, LENGTH + 3_010_002);
    // An empty key keeps its id too.
    long empty = done("/t/empty", create()).id();
    long bytes = stage("/t/empty", 7);
    assertEquals(empty, done("/t/empty", link(bytes, TOKEN, 7, true)).id());
    extents(empty, 7);
    // Unless there were bytes that the list itself has removed.
    done("/t/cut", create(), append("x"));
    long instead = stage("/t/cut", 7);
    done("/t/cut", of(StepKind.TRUNCATE, 0), link(instead, TOKEN, 7, true));
    extents(instead, 7);
  }

  @Test
  void keptBytesDoNotGoBeforeStagedOnes() throws Exception {
    done("/t/k", create(), append("kept"));
    long id = stage("/t/k", LENGTH);
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", link(id, TOKEN, LENGTH, true));
    fails(ErrorCode.NOT_KEPT, 1, "/t/k", link(id, TOKEN, LENGTH, false), append("x"));
    fails(ErrorCode.NOT_KEPT, 1, "/t/k", link(id, TOKEN, LENGTH, false), read(0, 1));
    assertEquals(4, store.lookup("/t/k").node().size());
    // A list may try one form and then the other, but has each byte once.
    done("/t/k", link(id, TOKEN, LENGTH, true).going(), link(id, TOKEN, LENGTH, false));
    long more = stage("/t/k", 10);
    fails(
        ErrorCode.INVALID_ARGUMENT,
        1,
        "/t/k",
        link(more, TOKEN, 10, true),
        link(more, TOKEN, 10, true));
    long others = stage("/t/k", 10);
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> operate("/t/k", link(more, TOKEN, 10, true), link(others, TOKEN, 10, true)));
    extents(id, LENGTH);
  }

  @Test
  void aSettlementLosesNoPutAndKeepsTheVersion() throws Exception {
    final long version = done("/t/k", create(), append("old"), set("a", "1")).version();
    long put =
        store.call(NameNodeOperations.PUT, TestStore.put("/t/k", TOKEN + 1, LENGTH)).node().id();
    long early = stage("/t/k", 3);
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", settle(early, TOKEN, 3));
    store.setSize(put, TOKEN + 1, LENGTH, SetSize.END);
    assertEquals(put, store.lookup("/t/k").node().id());
    extents(put, LENGTH);
    done("/t/l", create(), append("old"), set("a", "1"));
    long id = stage("/t/l", 3);
    Operate.Response settled = done("/t/l", of(StepKind.SIZE, 3), settle(id, TOKEN, 3));
    assertEquals(List.of(id, version), List.of(settled.id(), settled.version()));
    assertEquals(version, done("/t/l", of(StepKind.READ_ATTRIBUTES)).version());
    // With another change it is one of many.
    long next = stage("/t/l", 3);
    assertEquals(version + 1, done("/t/l", settle(next, TOKEN, 3), set("b", "2")).version());
    long more = stage("/t/l", 3);
    CompoundStep link = settle(more, TOKEN, 3);
    for (int form : new int[] {-1, 3}) {
      CompoundStep unknown =
          new CompoundStep(
              link.kind(), 0, false, more, form, link.name(), link.data(), link.expected());
      fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/l", unknown);
    }
  }

  @Test
  void bytesThatAreKnownToBeLostReplaceNone() throws Exception {
    store.datanode(2, "other", 1, true, ALL);
    Put.Request elsewhere =
        new Put.Request(
            true,
            true,
            0644,
            1,
            TOKEN,
            LENGTH,
            Utf8.of("/t/k"),
            Create.PARENT_HOST,
            Steps.value(""));
    done("/t/k", create(), append("old"));
    long id = store.call(NameNodeOperations.STAGE, elsewhere).node().id();
    for (int i = 0; i < 10; i++) {
      // Its client lives, and its datanode does not.
      store.passAlive(5_000, datanode);
      store.extend(id, TOKEN, 0, LENGTH);
    }
    fails(ErrorCode.UNAVAILABLE, 0, "/t/k", link(id, TOKEN, LENGTH, false));
    // Another one comes in its place.
    store.call(
        NameNodeOperations.REGISTER_DATANODE, TestStore.registration(3, "other", 1002, 1, true));
    fails(ErrorCode.DATA_LOST, 0, "/t/k", link(id, TOKEN, LENGTH, false));
    assertEquals(3, store.lookup("/t/k").node().size());
    store.setSize(id, TOKEN, 0, SetSize.END);
  }

  @Test
  void theyAreWhereThoseOfTheirKeyAre() throws Exception {
    store.datanode(2, "other", 1, true, ALL);
    Put.Request elsewhere =
        new Put.Request(
            true, true, 0644, 1, TOKEN, LENGTH, Utf8.of("/t/k"), Utf8.of("other"), Steps.value(""));
    long key = store.call(NameNodeOperations.PUT, elsewhere).node().id();
    store.setSize(key, TOKEN, LENGTH, SetSize.END);
    final NodeInfo present = store.lookup("/t/k").node();
    final int host = store.namenode.tree().find(key).host();
    long id = stage("/t/k", LENGTH);
    done("/t/k", link(id, TOKEN, LENGTH, false));
    NodeInfo next = store.lookup("/t/k").node();
    assertEquals(1, next.storageClass());
    assertEquals(present.flags() | NodeInfo.EXTENDED, next.flags());
    assertEquals(host, store.namenode.tree().find(id).host());
    // One that is not there yet is like its table.
    stage("/t/none", LENGTH);
    assertEquals(SPACE, store.usage(0).usedBytes());
  }

  @Test
  void theSpaceOfWhatWasAppendedIsFreeAtOnce() throws Exception {
    done("/t/k", create());
    for (int i = 0; i < 5; i++) {
      done("/t/k", link(stage("/t/k", LENGTH), TOKEN, LENGTH, true));
    }
    assertEquals(5 * SPACE, store.usage(0).usedBytes());
    store.remove("/t/k", false);
    assertEquals(ALL, store.usage(0).freeBytes());
  }

  @Test
  void onlyWhoKnowsTheirTokenLinksThem() throws Exception {
    done("/t/k", create());
    long id = stage("/t/k", LENGTH);
    fails(ErrorCode.WRITE_LEASE_LOST, 0, "/t/k", link(id, TOKEN + 1, LENGTH, false));
    fails(ErrorCode.OUT_OF_RANGE, 0, "/t/k", link(id, TOKEN, SPACE + 1, false));
    fails(ErrorCode.OUT_OF_RANGE, 0, "/t/k", link(id, TOKEN, 0, false));
    fails(ErrorCode.OUT_OF_RANGE, 0, "/t/k", link(id, TOKEN, -1, false));
    fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/k", of(StepKind.LINK, id));
    fails(ErrorCode.STALE_NODE, 0, "/t/k", link(id + 1, TOKEN, LENGTH, false));
    done("/t/l", create());
    refused(ErrorCode.INVALID_ARGUMENT, () -> operate("/t/l", link(id, TOKEN, LENGTH, false)));
    // Neither a key nor a put that is under way.
    long key = done("/t/l", of(StepKind.EXISTS)).id();
    fails(ErrorCode.STALE_NODE, 0, "/t/k", link(key, TOKEN, LENGTH, false));
    long put = store.call(NameNodeOperations.PUT, TestStore.put("/t/k", TOKEN, LENGTH)).node().id();
    fails(ErrorCode.STALE_NODE, 0, "/t/k", link(put, TOKEN, LENGTH, false));
    fails(ErrorCode.WRONG_TYPE, 0, "/t", append("x"));
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.setSize(id, TOKEN, LENGTH, SetSize.KEEP));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> store.call(NameNodeOperations.STAGE, TestStore.put("/t/k", TOKEN, 0)));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> store.call(NameNodeOperations.STAGE, TestStore.put("/t/k", 0, new byte[5])));
    store.mkdir("/d");
    refused(ErrorCode.WRONG_TYPE, () -> stage("/d/k", 10));
    refused(ErrorCode.PARENT_NOT_FOUND, () -> stage("/none/k", 10));
    // A put that comes between them, and then is overtaken.
    done("/t/k", link(id, TOKEN, LENGTH, false));
    refused(ErrorCode.STALE_NODE, () -> store.setSize(put, TOKEN, LENGTH, SetSize.END));
    extents(id, LENGTH);
    store.acquire(id, TOKEN + 2);
    long more = stage("/t/k", 10);
    fails(ErrorCode.WRITE_LEASE_HELD, 0, "/t/k", link(more, TOKEN, 10, true));
    fails(ErrorCode.WRITE_LEASE_HELD, 0, "/t/k", link(more, TOKEN, 10, false));
    store.setSize(id, TOKEN + 2, LENGTH, SetSize.END);
  }

  @Test
  void aKeyThatIsHiddenStaysSo() throws Exception {
    Put.Request hidden =
        new Put.Request(
            false,
            false,
            0644,
            Create.PARENT_CLASS,
            0,
            1,
            Utf8.of("/t/k"),
            Create.PARENT_HOST,
            Steps.value("x"));
    store.call(NameNodeOperations.PUT, hidden);
    long id = stage("/t/k", LENGTH);
    done("/t/k", link(id, TOKEN, LENGTH, false));
    assertEquals(List.of(), store.list(store.lookup("/t").node().id(), 10));
    assertEquals(LENGTH, store.lookup("/t/k").node().size());
  }

  @Test
  void whatIsNotUsedIsGivenBack() throws Exception {
    long id = stage("/t/k", LENGTH);
    assertEquals(SPACE, store.usage(0).usedBytes());
    store.setSize(id, TOKEN, 0, SetSize.END);
    assertEquals(ALL, store.usage(0).freeBytes());
    refused(ErrorCode.STALE_NODE, () -> store.setSize(id, TOKEN, 0, SetSize.END));
    fails(ErrorCode.STALE_NODE, 1, "/t/k", create(), link(id, TOKEN, LENGTH, false));
    // After a failed write they rest.
    long failed = stage("/t/k", LENGTH);
    store.extend(failed, TOKEN, 0, LENGTH);
    store.setSize(failed, TOKEN, 0, SetSize.EXPIRE);
    fails(ErrorCode.WRITE_LEASE_LOST, 1, "/t/k", create(), link(failed, TOKEN, LENGTH, false));
    store.passAlive(LEASE_MILLIS, datanode);
    assertEquals(ALL, store.usage(0).freeBytes());
    refused(ErrorCode.STALE_NODE, () -> store.find(failed, 0));
  }

  @Test
  void theyEndWithTheLeaseOfTheirClient() throws Exception {
    long id = stage("/t/k", LENGTH);
    store.extend(id, TOKEN, 0, LENGTH);
    store.passAlive(9_000, datanode);
    assertEquals(SPACE, store.usage(0).usedBytes());
    store.passAlive(2_000, datanode);
    assertEquals(0, store.usage(0).usedBytes());
    refused(ErrorCode.STALE_NODE, () -> store.acquire(id, TOKEN + 1));
    fails(ErrorCode.STALE_NODE, 1, "/t/k", create(), link(id, TOKEN, LENGTH, false));
    store.namenode.verify();
  }

  @Test
  void theyEndWithTheirTable() throws Exception {
    long closed = stage("/t/k", LENGTH);
    stage("/t/k", LENGTH);
    store.remove("/t", false);
    refused(ErrorCode.STALE_NODE, () -> store.setSize(closed, TOKEN, 0, SetSize.END));
    assertEquals(SPACE, store.usage(0).usedBytes());
    store.namenode.verify();
    store.passAlive(LEASE_MILLIS, datanode);
    assertEquals(ALL, store.usage(0).freeBytes());
    store.create(NodeType.TABLE, "/t", 0);
  }

  private DirectoryUsage quota(String path) throws CrailException {
    return DirectoryUsage.of(done(path, of(StepKind.READ_USAGE)).results().get(0).data().bytes());
  }

  private void assertQuota(long bytes, long names, String path) throws CrailException {
    DirectoryUsage usage = quota(path);
    assertEquals(List.of(bytes, names), List.of(usage.bytes(), usage.names()));
  }

  @Test
  void theyCountOnceForAQuota() throws Exception {
    store.mkdir("/q");
    done("/q", Steps.limit(3 * SPACE, 2));
    store.create(NodeType.TABLE, "/q/t", 0);
    long id = stage("/q/t/k", LENGTH);
    assertQuota(SPACE, 1, "/q");
    done("/q/t/k", create(), link(id, TOKEN, LENGTH, false));
    assertQuota(SPACE, 2, "/q");
    long next = stage("/q/t/k", LENGTH);
    long unused = stage("/q/t/other", LENGTH);
    assertQuota(3 * SPACE, 2, "/q");
    refused(ErrorCode.QUOTA_EXCEEDED, () -> stage("/q/t/k", LENGTH));
    refused(
        ErrorCode.QUOTA_EXCEEDED,
        () -> operate("/q/t/other", create(), link(unused, TOKEN, LENGTH, false)));
    done("/q/t/k", link(next, TOKEN, LENGTH, true));
    assertQuota(3 * SPACE, 2, "/q");
    store.setSize(unused, TOKEN, 0, SetSize.END);
    assertQuota(2 * SPACE, 2, "/q");
    long last = stage("/q/t/k", LENGTH);
    done("/q/t/k", link(last, TOKEN, LENGTH, false));
    assertQuota(SPACE, 2, "/q");
    stage("/q/t/k", LENGTH);
    assertQuota(2 * SPACE, 2, "/q");
    store.passAlive(LEASE_MILLIS, datanode);
    assertQuota(SPACE, 2, "/q");
    store.remove("/q", true);
  }

  @Test
  void aTableWithStagedBytesKeepsItsQuota() throws Exception {
    store.mkdir("/q");
    done("/q", Steps.limit(-1, -1));
    long id = stage("/t/k", LENGTH);
    refused(ErrorCode.INVALID_ARGUMENT, () -> store.rename("/t", "/q/t"));
    fails(ErrorCode.NOT_EMPTY, 0, "/t", Steps.limit(-1, -1));
    store.setSize(id, TOKEN, 0, SetSize.END);
    store.rename("/t", "/q/t");
    store.rename("/q/t", "/t");
    done("/t", Steps.limit(-1, -1));
  }

  @Test
  void renamesLeaveThemToTheirName() throws Exception {
    done("/t/k", create(), append("old"));
    long id = stage("/t/k", LENGTH);
    store.rename("/t/k", "/t/l");
    fails(ErrorCode.NODE_NOT_FOUND, 0, "/t/k", link(id, TOKEN, LENGTH, false));
    store.rename("/t", "/u");
    done("/u/k", create(), link(id, TOKEN, LENGTH, false));
    assertEquals(LENGTH, store.lookup("/u/k").node().size());
    store.rename("/u", "/t");
  }

  /** A copy of the last extent is made while bytes are put behind it. */
  @Test
  void extentsThatAreMovedMeanwhileStayRight() throws Exception {
    long first = stage("/t/k", LENGTH);
    store.datanode(2, "other", 0, true, ALL);
    done("/t/k", create(), link(first, TOKEN, LENGTH, false));
    List<Extent> extents = extents(first, LENGTH);
    Extent last = extents.get(extents.size() - 1);
    BeginMove.Request begin =
        new BeginMove.Request(
            first, TOKEN, last.fileOffset(), last.place(), BeginMove.ANY_DATANODE);
    final BeginMove.Response tooLate = store.call(NameNodeOperations.BEGIN_MOVE, begin);
    // What is staged has a writer, and is not moved.
    Put.Response staged =
        store.call(NameNodeOperations.STAGE, TestStore.put("/t/k", TOKEN, LENGTH));
    long second = staged.node().id();
    refused(
        ErrorCode.WRITE_LEASE_HELD,
        () ->
            store.call(
                NameNodeOperations.BEGIN_MOVE,
                new BeginMove.Request(
                    second, TOKEN, 0, staged.extents().get(0).place(), BeginMove.ANY_DATANODE)));
    done("/t/k", link(second, TOKEN, LENGTH, true));
    refused(ErrorCode.STALE_EXTENT, () -> commit(first, tooLate, last));
    BeginMove.Response again = store.call(NameNodeOperations.BEGIN_MOVE, begin);
    commit(first, again, last);
    extents(first, 2 * LENGTH);
    // The datanode of the copy is gone before anything is known of it, so the move is undone.
    long third = stage("/t/k", LENGTH);
    done("/t/k", link(third, TOKEN, LENGTH, true));
    store.passAlive(30_000, datanode);
    assertTrue(
        extents(first, 3 * LENGTH).stream()
            .anyMatch(extent -> extent.place().equals(last.place())));
    store.namenode.verify();
  }

  private void commit(long id, BeginMove.Response move, Extent extent) throws CrailException {
    store.call(
        NameNodeOperations.COMMIT_MOVE,
        new CommitMove.Request(
            id,
            TOKEN,
            move.grant(),
            move.bytes(),
            extent.fileOffset(),
            extent.place(),
            move.target()));
  }

  @Test
  void lifetimesAreThoseOfTheKey() throws Exception {
    done("/t", of(StepKind.EXPIRE_CHILDREN, 20_000));
    long id = stage("/t/k", LENGTH);
    done("/t/k", create(), link(id, TOKEN, LENGTH, false));
    store.passAlive(8_000, datanode);
    long next = stage("/t/k", LENGTH);
    done("/t/k", link(next, TOKEN, LENGTH, false));
    assertEquals(12_000, done("/t/k", of(StepKind.READ_LIFETIME)).results().get(0).number());
    store.passAlive(13_000, datanode);
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/t/k"));
  }

  @Test
  void manyClientsAppendUntilTheyAreSealed() throws Exception {
    final int writers = 6;
    final long length = 5_000;
    done("/t/k", create());
    AtomicLong sealed = new AtomicLong();
    AtomicLong acknowledged = new AtomicLong();
    List<Throwable> wrong = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      Wire wire = Wire.connect(store.server, 100 + i);
      long token = 100 + i;
      threads.add(
          new Thread(
              () -> {
                try {
                  while (sealed.get() == 0) {
                    long id =
                        wire.call(NameNodeOperations.STAGE, TestStore.put("/t/k", token, length))
                            .node()
                            .id();
                    Operate.Request list =
                        new Operate.Request(
                            0640,
                            Utf8.of("/t/k"),
                            List.of(
                                of(StepKind.EPOCH, Comparison.AT_MOST, 0),
                                link(id, token, length, true)));
                    Operate.Response answer = wire.call(NameNodeOperations.OPERATE, list);
                    if (answer.failed() == Operate.NONE_FAILED) {
                      acknowledged.incrementAndGet();
                    } else {
                      wire.call(
                          NameNodeOperations.SET_SIZE,
                          new SetSize.Request(id, token, 0, SetSize.END));
                    }
                  }
                } catch (Throwable e) {
                  synchronized (wrong) {
                    wrong.add(e);
                  }
                }
              }));
    }
    threads.forEach(Thread::start);
    while (acknowledged.get() < 200 && threads.stream().anyMatch(Thread::isAlive)) {
      Thread.onSpinWait();
    }
    long size = done("/t/k", of(StepKind.RAISE_EPOCH, 1), of(StepKind.READ_SIZE)).size();
    sealed.set(1);
    for (Thread thread : threads) {
      thread.join(60_000);
      assertFalse(thread.isAlive(), "a writer does not end");
    }
    assertEquals(List.of(), wrong);
    assertEquals(acknowledged.get() * length, size);
    extents(done("/t/k", of(StepKind.EXISTS)).id(), size);
  }
}
