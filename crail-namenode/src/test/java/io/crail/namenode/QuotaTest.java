/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.DirectoryUsage;
import io.crail.compound.StepKind;
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * Quotas of directories: what counts, what is refused, and that all is counted exactly, whatever
 * fails. {@code NameNode.verify} counts everything again.
 */
class QuotaTest {
  private static final long TOKEN = 9;
  private static final long MIB = 1 << 20;

  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    datanode = store.datanode(64 * MIB);
  }

  @AfterEach
  void everythingAddsUp() throws Exception {
    store.namenode.verify();
    store.passAlive(30_000, datanode);
    store.namenode.verify();
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of(path), List.of(steps)));
  }

  private void limit(String path, long bytes, long names) throws CrailException {
    Operate.Response response = operate(path, Steps.limit(bytes, names));
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
  }

  /** A new directory with limits. */
  private void limited(String path, long bytes, long names) throws CrailException {
    store.mkdir(path);
    limit(path, bytes, names);
  }

  private void failsAt(int step, ErrorCode code, Operate.Response response) {
    assertEquals(step, response.failed(), response.toString());
    assertEquals(code.number(), response.results().get(step).code(), response.toString());
  }

  private void limitFails(ErrorCode code, String path, long bytes, long names)
      throws CrailException {
    failsAt(0, code, operate(path, Steps.limit(bytes, names)));
  }

  private DirectoryUsage usage(String path) throws CrailException {
    Operate.Response response =
        store.call(
            NameNodeOperations.OPERATE_READ,
            new Operate.Request(0, Utf8.of(path), List.of(Steps.of(StepKind.READ_USAGE))));
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
    return DirectoryUsage.of(response.results().get(0).data().bytes());
  }

  private void assertUsage(long bytes, long names, String path) throws CrailException {
    DirectoryUsage usage = usage(path);
    assertEquals(List.of(bytes, names), List.of(usage.bytes(), usage.names()), path);
  }

  private NodeInfo put(String path, int length) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, 0, new byte[length])).node();
  }

  private NodeInfo begin(String path, long length, long token) throws CrailException {
    return store.call(NameNodeOperations.PUT, TestStore.put(path, token, length)).node();
  }

  /** Of what a writer leaves that dies, the space stays as long as it was; a copy is shorter. */
  @Test
  void aCopyCountsAsItsOwnSpace() throws Exception {
    limited("/q", 2 * MIB, -1);
    int other = store.datanode(2, "other", 0, true, 64 * MIB);
    NodeInfo node = store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    Extent extent = store.extend(node.id(), TOKEN, 0, MIB).get(0);
    store.setSize(node.id(), TOKEN, 300_000, SetSize.KEEP);
    store.passAlive(30_000, datanode, other);
    assertUsage(MIB, 1, "/q");
    BeginMove.Response begun =
        store.call(
            NameNodeOperations.BEGIN_MOVE,
            new BeginMove.Request(node.id(), TOKEN, 0, extent.place(), BeginMove.ANY_DATANODE));
    store.call(
        NameNodeOperations.COMMIT_MOVE,
        new CommitMove.Request(
            node.id(), TOKEN, begun.grant(), begun.bytes(), 0, extent.place(), begun.target()));
    assertUsage(MIB / 2, 1, "/q");
    // The datanode of the copy is gone before anything is known of it, so the move is undone.
    store.passAlive(30_000, datanode);
    assertUsage(MIB, 1, "/q");
    store.remove("/q/f", false);
    assertUsage(0, 0, "/q");
  }

  private static void full(String named, Executable action) {
    refused(ErrorCode.QUOTA_EXCEEDED, named, action);
  }

  @Test
  void aLimitOfNamesIsHard() throws Exception {
    limited("/q", -1, 3);
    store.file("/q/a");
    store.mkdir("/q/d");
    store.file("/q/d/b");
    full("/q/d/c", () -> store.file("/q/d/c"));
    full("the quota of /q ", () -> store.mkdir("/q/d/c"));
    full("is 3 names, and 3 are used", () -> store.create(NodeType.TABLE, "/q/t", 0));
    assertUsage(0, 3, "/q/d");
    assertEquals("/q", usage("/q/d").directory());
    store.remove("/q/a", false);
    store.file("/q/d/c");
    assertUsage(0, 3, "/q");
    store.file("/elsewhere");
  }

  @Test
  void spaceCountsAsItIsAllocated() throws Exception {
    limited("/q", 4 * MIB, -1);
    store.write("/q/f", 5_000);
    long file = store.usage(0).usedBytes();
    assertUsage(file, 1, "/q");
    store.create(NodeType.TABLE, "/q/t", 0);
    put("/q/t/k", 100);
    assertUsage(file + 100, 3, "/q");
    operate("/q/t/k", Steps.append("x".repeat(50)));
    operate("/q/t/n", Steps.create(), Steps.append("new"));
    assertUsage(file + 153, 4, "/q");
    operate("/q/t/k", Steps.of(StepKind.TRUNCATE, 10));
    assertUsage(file + 13, 4, "/q");
    operate("/q/t/n", Steps.of(StepKind.DELETE));
    store.remove("/q/f", false);
    assertUsage(10, 2, "/q");
    // What a writer has in advance counts until its end.
    NodeInfo ahead = store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    store.extend(ahead.id(), TOKEN, 0, 2 * MIB);
    assertUsage(2 * MIB + 10, 3, "/q");
    store.setSize(ahead.id(), TOKEN, MIB + 1, SetSize.KEEP);
    assertUsage(2 * MIB + 10, 3, "/q");
    store.setSize(ahead.id(), TOKEN, MIB, SetSize.END);
    assertUsage(MIB + MIB + 10, 3, "/q");
    store.remove("/q/f", false);
    assertUsage(10, 2, "/q");
  }

  @Test
  void aWriterGetsSpaceUpToTheLimit() throws Exception {
    limited("/q", 100 << 10, -1);
    NodeInfo file = store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    long end = 0;
    while (end < 100 << 10) {
      List<Extent> extents = store.extend(file.id(), TOKEN, end, MIB);
      end = extents.get(extents.size() - 1).fileEnd();
    }
    assertUsage(100 << 10, 1, "/q");
    full("is 102400 bytes, and 102400 are", () -> store.extend(file.id(), TOKEN, 100 << 10, 1));
    // It still learns of the space that it has.
    assertEquals(100 << 10, store.extend(file.id(), TOKEN, 99 << 10, MIB).get(0).fileEnd());
    store.setSize(file.id(), TOKEN, 100 << 10, SetSize.END);
    limit("/q", (104 << 10) - 1, -1);
    NodeInfo other = store.create(NodeType.DATAFILE, "/q/g", TOKEN);
    full("/q/g", () -> store.extend(other.id(), TOKEN, 0, 1));
    limit("/q", 104 << 10, -1);
    store.extend(other.id(), TOKEN, 0, 1);
    assertUsage(104 << 10, 2, "/q");
  }

  @Test
  void aPutGetsAllOrNothing() throws Exception {
    limited("/q", 100_000, -1);
    store.create(NodeType.TABLE, "/q/t", 0);
    full("/q/t/k", () -> begin("/q/t/k", 100_001, TOKEN));
    assertUsage(0, 1, "/q");
    // No 128 KiB in one piece, but as many pieces as there is room for.
    begin("/q/t/k", 90_000, TOKEN);
    long large = usage("/q").bytes();
    assertTrue(large >= 90_000 && large < 100_000, () -> large + " bytes");
    full("/q/t/s", () -> put("/q/t/s", 10_001));
    put("/q/t/s", (int) (100_000 - large));
    assertUsage(100_000, 3, "/q");
    full("/q/t/a", () -> operate("/q/t/a", Steps.create(), Steps.append("x")));
    full("/q/t/s", () -> operate("/q/t/s", Steps.append("x")));
    assertUsage(100_000, 3, "/q");
    operate("/q/t/s", Steps.writeFull("y"));
    operate("/q/t/s", Steps.append("x"));
    assertUsage(large + 2, 3, "/q");
  }

  @Test
  void whatReplacesSomethingTakesTheDifference() throws Exception {
    limited("/q", 10_000, 3);
    store.create(NodeType.TABLE, "/q/t", 0);
    put("/q/t/k", 6_000);
    put("/q/t/k", 7_000);
    assertUsage(7_000, 2, "/q");
    put("/q/t/k", 10_000);
    full("/q/t/k", () -> put("/q/t/k", 10_001));
    assertUsage(10_000, 2, "/q");
    put("/q/t/k", 1);
    assertUsage(1, 2, "/q");
    // One that goes elsewhere, in the place of another, in a quota that is full.
    store.write("/q/f", 4_000);
    limit("/q", 4_097, 3);
    NodeInfo next = store.replace("/q/f", TOKEN);
    assertUsage(1, 3, "/q");
    store.write(next, 100);
    store.write(store.replace("/q/f", TOKEN), 4_000);
    assertUsage(4_097, 3, "/q");
  }

  @Test
  void aValueThatIsToReplaceAnotherCountsBesideIt() throws Exception {
    limited("/q", 150_000, 2);
    store.create(NodeType.TABLE, "/q/t", 0);
    store.write(begin("/q/t/k", 60_000, TOKEN), 60_000);
    assertUsage(64 << 10, 2, "/q");
    // No other name.
    NodeInfo next = begin("/q/t/k", 65_536, TOKEN);
    assertUsage(128 << 10, 2, "/q");
    full("/q/t/k", () -> begin("/q/t/k", 100_000, TOKEN + 1));
    assertUsage(128 << 10, 2, "/q");
    store.setSize(next.id(), TOKEN, 65_536, SetSize.END);
    assertUsage(64 << 10, 2, "/q");
    // One that is given up, one that another put drops, and one that ends with the present one.
    begin("/q/t/k", 65_536, TOKEN);
    assertUsage(128 << 10, 2, "/q");
    store.passAlive(15_000, datanode);
    assertUsage(64 << 10, 2, "/q");
    begin("/q/t/k", 65_536, TOKEN);
    begin("/q/t/k", 4_096, TOKEN);
    assertUsage(68 << 10, 2, "/q");
    store.remove("/q/t/k", false);
    assertUsage(0, 1, "/q");
  }

  private void endWith(NodeInfo node, int length) throws CrailException {
    store.call(
        NameNodeOperations.SET_SIZE,
        new SetSize.Request(
            node.id(), TOKEN, length, SetSize.END, SmallValue.of(new byte[length])));
  }

  @Test
  void aSmallValueOfAStreamCounts() throws Exception {
    limited("/q", 5_000, -1);
    store.create(NodeType.TABLE, "/q/t", 0);
    NodeInfo key = store.create(NodeType.KEYVALUE, "/q/t/k", TOKEN);
    full("/q/t/k", () -> endWith(key, 5_001));
    assertUsage(0, 2, "/q");
    // Space that it has asked for counts as free.
    store.extend(key.id(), TOKEN, 0, 1);
    assertUsage(4_096, 2, "/q");
    endWith(key, 4_900);
    assertUsage(4_900, 2, "/q");
    // It grows, so that it moves: old and new bytes count for a while.
    store.acquire(key.id(), TOKEN);
    full("/q/t/k", () -> store.extend(key.id(), TOKEN, 0, 1));
    limit("/q", 17_000, -1);
    store.extend(key.id(), TOKEN, 0, 5_000);
    assertUsage(4_900 + (8 << 10), 2, "/q");
    store.setSize(key.id(), TOKEN, 5_000, SetSize.END);
    assertUsage(8 << 10, 2, "/q");
  }

  @Test
  void whatAnExpiredWriterHadInAdvanceIsGivenBack() throws Exception {
    limited("/q", MIB, -1);
    NodeInfo file = store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    store.extend(file.id(), TOKEN, 0, 4_096);
    store.extend(file.id(), TOKEN, 4_096, 8_192);
    store.extend(file.id(), TOKEN, 4_096 + 8_192, 16_384);
    store.setSize(file.id(), TOKEN, 5_000, SetSize.KEEP);
    assertUsage(28 << 10, 1, "/q");
    store.passAlive(15_000, datanode);
    // The second extent is sealed, and counts as it is allocated.
    assertUsage(12 << 10, 1, "/q");
    store.remove("/q/f", false);
    assertUsage(0, 0, "/q");
  }

  @Test
  void limitsBeginOnWhatIsEmptyAndCanBeCounted() throws Exception {
    store.mkdir("/d");
    store.file("/d/f");
    limitFails(ErrorCode.NOT_EMPTY, "/d", 1, 1);
    limitFails(ErrorCode.WRONG_TYPE, "/d/f", 1, 1);
    limitFails(ErrorCode.NODE_NOT_FOUND, "/none", 1, 1);
    store.create(NodeType.MULTIFILE, "/m", 0);
    limitFails(ErrorCode.INVALID_ARGUMENT, "/m", 1, 1);
    store.mkdir("/e");
    limitFails(ErrorCode.INVALID_ARGUMENT, "/e", -2, 1);
    limitFails(ErrorCode.INVALID_ARGUMENT, "/e", 1, -2);
    refused(ErrorCode.ROOT, () -> operate("/", Steps.limit(1, 1)));
    for (String path : List.of("/d", "/e")) {
      failsAt(0, ErrorCode.CONDITION_FAILED, operate(path, Steps.of(StepKind.READ_USAGE)));
    }
    failsAt(0, ErrorCode.WRONG_TYPE, operate("/d/f", Steps.of(StepKind.READ_USAGE)));
    // A list that fails begins nothing, one that does not is done as a whole.
    failsAt(
        1, ErrorCode.CONDITION_FAILED, operate("/e", Steps.limit(1, 1), Steps.of(StepKind.ABSENT)));
    failsAt(0, ErrorCode.CONDITION_FAILED, operate("/e", Steps.of(StepKind.READ_USAGE)));
    DirectoryUsage expected = new DirectoryUsage("/e", 0, 7, 0, 8);
    Operate.Response all =
        operate("/e", Steps.set("a", "b"), Steps.limit(7, 8), Steps.of(StepKind.READ_USAGE));
    assertEquals(expected, DirectoryUsage.of(all.results().get(2).data().bytes()));
    assertEquals(expected, usage("/e"));
    assertEquals(1, operate("/e", Steps.of(StepKind.HAS_ATTRIBUTE)).results().size());
  }

  @Test
  void limitsBelowTheUseAndNoLimits() throws Exception {
    limited("/q", -1, -1);
    store.write("/q/f", 4_096);
    store.file("/q/g");
    assertUsage(4_096, 2, "/q");
    limit("/q", 10, 1);
    full("/q/h", () -> store.file("/q/h"));
    store.rename("/q/g", "/q/i");
    NodeInfo file = store.lookup("/q/i").node();
    store.acquire(file.id(), TOKEN);
    full("/q/i", () -> store.extend(file.id(), TOKEN, 0, 1));
    store.remove("/q/f", false);
    full("/q/h", () -> store.file("/q/h"));
    store.remove("/q/i", false);
    store.file("/q/h");
    limit("/q", -1, -1);
    store.write("/q/f", 4_096);
    assertUsage(4_096, 2, "/q");
    assertEquals(-1, usage("/q").bytesLimit());
  }

  @Test
  void quotasNest() throws Exception {
    limited("/q", 20_000, 4);
    limited("/q/a", 8_192, -1);
    limited("/q/b", -1, 2);
    store.write("/q/a/f", 4_096);
    NodeInfo large = store.lookup("/q/a/f").node();
    store.acquire(large.id(), TOKEN);
    store.extend(large.id(), TOKEN, 4_096, 4_096);
    full("the quota of /q/a ", () -> store.extend(large.id(), TOKEN, 8_192, 1));
    store.file("/q/b/f");
    full("the quota of /q ", () -> store.file("/q/b/g"));
    assertUsage(8_192, 1, "/q/a");
    assertUsage(0, 1, "/q/b");
    assertUsage(8_192, 4, "/q");
    limit("/q", 20_000, 9);
    store.file("/q/b/g");
    full("the quota of /q/b ", () -> store.file("/q/b/h"));
    NodeInfo file = store.lookup("/q/b/f").node();
    store.acquire(file.id(), TOKEN);
    store.extend(file.id(), TOKEN, 0, 20_000);
    full("the quota of /q ", () -> store.extend(file.id(), TOKEN, 8_192, 20_000));
    assertUsage(8_192, 2, "/q/b");
    assertUsage(16_384, 5, "/q");
    store.remove("/q/a", true);
    assertUsage(8_192, 3, "/q");
  }

  @Test
  void renamesMoveWhatANodeHas() throws Exception {
    limited("/q", 10_000, 2);
    limited("/r", 5_000, 1);
    store.write("/q/f", 4_096);
    store.rename("/q/f", "/q/g");
    assertUsage(4_096, 1, "/q");
    store.rename("/q/g", "/r/f");
    assertUsage(0, 0, "/q");
    assertUsage(4_096, 1, "/r");
    store.file("/q/h");
    full("/r/h", () -> store.rename("/q/h", "/r/h"));
    store.write("/q/i", 4_096);
    full("/r/f", () -> store.renameOver("/q/i", "/r/f"));
    assertUsage(4_096, 2, "/q");
    assertUsage(4_096, 1, "/r");
    // A name that is there becomes that of the other node.
    store.renameOver("/q/h", "/r/f");
    assertUsage(0, 1, "/r");
    store.rename("/q/i", "/outside");
    assertUsage(0, 0, "/q");
    full("/r/o", () -> store.rename("/outside", "/r/o"));
    store.renameOver("/r/f", "/outside");
    assertUsage(0, 0, "/r");
    // Within one that is full.
    limit("/q", 10_000, 1);
    store.file("/q/f");
    store.rename("/q/f", "/q/a-name-that-is-too-long-to-be-inline");
    assertUsage(0, 1, "/q");
  }

  @Test
  void aRenameWithinAQuotaOverAnotherNodeFreesWhatThatOneHad() throws Exception {
    limited("/q", 10_000, 2);
    store.write("/q/f", 4_096);
    store.write("/q/g", 4_096);
    store.renameOver("/q/f", "/q/g");
    assertUsage(4_096, 1, "/q");
  }

  @Test
  void whatIsCommonToTwoQuotasIsNotTakenTwice() throws Exception {
    limited("/q", 4_096, 3);
    limited("/q/a", -1, -1);
    limited("/q/b", -1, -1);
    store.write("/q/a/f", 4_096);
    store.rename("/q/a/f", "/q/b/f");
    assertUsage(4_096, 1, "/q/b");
    assertUsage(0, 0, "/q/a");
    assertUsage(4_096, 3, "/q");
    store.rename("/q/b/f", "/q/f");
    assertUsage(4_096, 3, "/q");
    assertUsage(0, 0, "/q/b");
    store.rename("/q/f", "/q/a/g");
    assertUsage(4_096, 1, "/q/a");
    assertUsage(4_096, 3, "/q");
  }

  @Test
  void directoriesMoveWhereNothingHasToBeCounted() throws Exception {
    limited("/q", -1, 2);
    store.mkdir("/d");
    store.mkdir("/d/empty");
    store.mkdir("/d/full");
    store.file("/d/full/f");
    refused(ErrorCode.INVALID_ARGUMENT, "/d/full", () -> store.rename("/d/full", "/q/full"));
    store.rename("/d/empty", "/q/empty");
    assertUsage(0, 1, "/q");
    store.file("/q/empty/f");
    assertUsage(0, 2, "/q/empty");
    store.rename("/q/empty", "/q/other");
    refused(ErrorCode.INVALID_ARGUMENT, "/q/other", () -> store.rename("/q/other", "/d/other"));
    store.remove("/q/other/f", false);
    store.rename("/q/other", "/d/other");
    assertUsage(0, 0, "/q");
    store.file("/d/other/f");
    assertUsage(0, 0, "/q");
    // One with a quota of its own stays below the same one, if any.
    store.rename("/q", "/d/q");
    limited("/d/q/inner", -1, -1);
    store.rename("/d/q/inner", "/d/q/renamed");
    refused(
        ErrorCode.INVALID_ARGUMENT, "/d/q/renamed", () -> store.rename("/d/q/renamed", "/d/up"));
    store.file("/d/q/renamed/f");
    assertUsage(0, 2, "/d/q");
    assertEquals("/d/q/renamed", usage("/d/q/renamed").directory());
  }

  @Test
  void aNameThatIsLeftToAnHeirCounts() throws Exception {
    limited("/q", 200_000, 3);
    store.create(NodeType.TABLE, "/q/t", 0);
    store.create(NodeType.TABLE, "/u", 0);
    store.write(begin("/q/t/k", 60_000, TOKEN), 60_000);
    final NodeInfo heir = begin("/q/t/k", 65_536, TOKEN);
    store.rename("/q/t/k", "/q/t/moved");
    assertUsage(128 << 10, 3, "/q");
    final NodeInfo third = begin("/q/t/moved", 4_096, TOKEN);
    full("/q/t/again", () -> store.rename("/q/t/moved", "/q/t/again"));
    assertUsage(132 << 10, 3, "/q");
    store.rename("/q/t/moved", "/u/moved");
    assertUsage(68 << 10, 3, "/q");
    store.setSize(third.id(), TOKEN, 4_096, SetSize.END);
    store.setSize(heir.id(), TOKEN, 65_536, SetSize.END);
    store.remove("/q/t/k", false);
    assertUsage(4_096, 2, "/q");
  }

  @Test
  void whatWasRemovedIsGivenBackAsItIsTakenApart() throws Exception {
    limited("/q", 4 * MIB, 2_000);
    store.mkdir("/q/d");
    limited("/q/d/inner", -1, -1);
    for (int i = 0; i < 500; i++) {
      store.file("/q/d/" + i);
      store.file("/q/d/inner/" + i);
    }
    store.write("/q/d/inner/f", 8_192);
    store.remove("/q/d", true);
    long names = usage("/q").names();
    assertTrue(names > 0 && names < 1_000, () -> "still there: " + names);
    // A namesake has nothing of it.
    limited("/q/d", -1, 10);
    store.file("/q/d/f");
    assertUsage(0, 1, "/q/d");
    store.namenode.verify();
    store.namenode.tick();
    assertUsage(0, 1, "/q/d");
    assertUsage(0, 2, "/q");
    // Also when all of it goes, and a writer is left.
    NodeInfo file = store.create(NodeType.DATAFILE, "/q/d/w", TOKEN);
    store.extend(file.id(), TOKEN, 0, MIB);
    store.remove("/q", true);
    limited("/q", 4_096, 1);
    store.namenode.tick();
    assertUsage(0, 0, "/q");
    refused(ErrorCode.STALE_NODE, () -> store.setSize(file.id(), TOKEN, 10, SetSize.END));
    store.write("/q/f", 4_096);
    assertUsage(4_096, 1, "/q");
  }

  @Test
  void theRoomThatARemovalLeavesIsThereAtOnce() throws Exception {
    limited("/q", -1, 1_001);
    store.mkdir("/q/d");
    for (int i = 0; i < 1_000; i++) {
      store.file("/q/d/" + i);
    }
    full("/q/d", () -> store.file("/q/d/more"));
    store.remove("/q/d", true);
    store.mkdir("/q/d");
    for (int i = 0; i < 1_000; i++) {
      store.file("/q/d/" + i);
    }
    store.file("/x");
    store.remove("/q/d", true);
    limit("/q", -1, 1);
    store.rename("/x", "/q/x");
    assertUsage(0, 1, "/q");
  }

  @Test
  void aDirectoryWithLimitsIsNotReplaced() throws Exception {
    limited("/q", 10, 10);
    store.mkdir("/d");
    refused(ErrorCode.NODE_EXISTS, "limits of its own", () -> store.renameOver("/d", "/q"));
    assertUsage(0, 0, "/q");
  }

  @Test
  void noSpreadDirectoryIsBelowAQuota() throws Exception {
    String here = "/q";
    while (NodePath.namenodeOf(Utf8.of(here), 2) != 0) {
      here += "q";
    }
    String path = here;
    store = new TestStore(new ManualClock(), 0, 2);
    datanode = store.datanode(MIB);
    limited(path, -1, -1);
    store.mkdir(path + "/d");
    refused(
        ErrorCode.INVALID_ARGUMENT,
        path,
        () ->
            store.call(
                NameNodeOperations.CREATE_SPREAD,
                TestStore.creation(NodeType.DIRECTORY, path + "/d/s", 0)));
    assertUsage(0, 1, path);
  }

  @Test
  void whatFailsHalfWayCountsNothing() throws Exception {
    limited("/q", 1 << 30, -1);
    store.create(NodeType.TABLE, "/q/t", 0);
    final DirectoryUsage before = usage("/q");
    refused(ErrorCode.INVALID_ARGUMENT, () -> begin("/q/t/k", MIB, 0));
    refused(ErrorCode.NODE_EXISTS, () -> store.mkdir("/q/t"));
    refused(ErrorCode.WRONG_TYPE, () -> store.mkdir("/q/t/d"));
    failsAt(
        2,
        ErrorCode.CONDITION_FAILED,
        operate("/q/t/k", Steps.create(), Steps.append("x"), Steps.of(StepKind.ABSENT)));
    assertEquals(before, usage("/q"));
    // Space that is gone half-way: some is given back, and none is counted.
    NodeInfo file = store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    long end = 0;
    while (end < 64 * MIB) {
      List<Extent> extents = store.extend(file.id(), TOKEN, end, 64 * MIB - end);
      end = extents.get(extents.size() - 1).fileEnd();
    }
    refused(ErrorCode.NO_SPACE, () -> store.extend(file.id(), TOKEN, 64 * MIB, 1));
    refused(ErrorCode.NO_SPACE, () -> begin("/q/t/k", 100_000, TOKEN));
    assertUsage(64 * MIB, 2, "/q");
    store.setSize(file.id(), TOKEN, 63 * MIB, SetSize.END);
    store.passAlive(15_000, datanode);
    assertUsage(63 * MIB, 2, "/q");
    refused(ErrorCode.NO_SPACE, () -> begin("/q/t/k", 2 * MIB, TOKEN));
    assertUsage(63 * MIB, 2, "/q");
  }

  @Test
  void whatGetsNoLeaseCountsNothing() throws Exception {
    store = new TestStore("crail.namenode.maxleases", "1");
    datanode = store.datanode(MIB);
    limited("/q", MIB, 3);
    store.create(NodeType.TABLE, "/q/t", 0);
    put("/q/t/k", 100);
    store.create(NodeType.DATAFILE, "/q/f", TOKEN);
    refused(ErrorCode.LIMIT_EXCEEDED, () -> store.create(NodeType.KEYVALUE, "/q/t/k", TOKEN + 1));
    refused(ErrorCode.LIMIT_EXCEEDED, () -> begin("/q/t/k", 100_000, TOKEN + 1));
    assertUsage(100, 3, "/q");
    limit("/q", MIB, 4);
    refused(ErrorCode.LIMIT_EXCEEDED, () -> store.create(NodeType.DATAFILE, "/q/g", TOKEN + 1));
    assertUsage(100, 3, "/q");
  }

  @Test
  void whatFindsNoHeapCountsNothing() throws Exception {
    store = new TestStore("crail.namenode.memory", "1m");
    datanode = store.datanode(MIB);
    limited("/q", 1 << 30, -1);
    store.create(NodeType.TABLE, "/q/t", 0);
    int made = 0;
    try {
      for (; made < 100_000; made++) {
        operate("/q/t/" + made, Steps.create(), Steps.set("a", "b"), Steps.append("bytes"));
      }
    } catch (CrailException e) {
      assertEquals(ErrorCode.LIMIT_EXCEEDED, e.code(), e.toString());
    }
    store.namenode.verify();
    assertUsage(5L * made, made + 1, "/q");
    refused(
        ErrorCode.LIMIT_EXCEEDED,
        () -> operate("/q/t/0", Steps.set("b", "x".repeat(60_000)), Steps.append("more")));
    refused(ErrorCode.LIMIT_EXCEEDED, () -> put("/q/t/" + "n".repeat(240), 10));
    assertUsage(5L * made, made + 1, "/q");
    store.remove("/q", true);
    for (int i = 0; i < 100; i++) {
      store.namenode.tick();
    }
  }

  @Test
  void withoutAQuotaThereIsNothingToTake() throws Exception {
    store.mkdir("/d");
    Node directory = store.namenode.tree().find(store.lookup("/d").node().id());
    assertNull(((Container) directory).quota());
    NodeInfo file = store.write("/d/f", 8_000);
    Node node = store.namenode.tree().find(file.id());
    assertSame(QuotaCharge.NONE, QuotaCharge.of(Container.quotaOf(node), node.space()));
  }
}
