/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.ManualClock;
import io.crail.namenode.NameNode;
import io.crail.namenode.Refusals;
import io.crail.namenode.Shares;
import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The shares of spread directories that another namenode owns, which says random states of them, in
 * any order, and starts again. Beside it, clients use the shares. The records of changes must say
 * all that is there.
 */
class ShareChangeTest {
  private static final int ROUNDS = 4_000;
  private static final int OWNER = 1;
  private static final int NAMENODES = 2;
  private static final int DIRECTORIES = 4;

  private final long seed = TestStore.seed();
  private final Random random = new Random(seed);
  private final ManualClock clock = new ManualClock();
  private final ChangeModel model = new ChangeModel();
  private final List<Change> records = new ArrayList<>();
  private final TestStore store;
  private final Map<ErrorCode, Integer> outcomes = new EnumMap<>(ErrorCode.class);

  private long incarnation = 5;
  private long version = 10;
  private final Map<Long, Long> versions = new HashMap<>();

  /** Compares the namenode with the model, and with one that is made of the records. */
  private void verify() throws CrailException {
    model.verify(store.namenode);
    store.namenode.verify();
    TestStore next = store.replayed(records);
    model.verify(next.namenode);
    next.namenode.verify();
    NameNode copy = next.copied().namenode;
    model.verify(copy);
    copy.verify();
    int covered = random.nextInt(records.size() + 1);
    NameNode checkpointed = store.checkpointed(records, covered).namenode;
    model.verify(checkpointed);
    checkpointed.verify();
  }

  ShareChangeTest() throws CrailException {
    store =
        new TestStore(
            clock,
            0,
            NAMENODES,
            change -> {
              model.changed(change);
              records.add(change);
            });
    model.begin(store.namenode);
  }

  private static long id(int directory) {
    return 100L * NAMENODES + directory * NAMENODES + OWNER;
  }

  /** Else a child could get a path that no request can hold. */
  @Test
  void aPathHasToNameAllOfTheDirectory() throws Exception {
    store.call(NameNodeOperations.SET_SHARE, Shares.open(1, 3, 5, "/some/directory"));
    Utf8 forged = SpreadPath.of(3, "/some".length(), Utf8.of("/some/c" + own("/some/c")));
    Refusals.refused(
        ErrorCode.INVALID_PATH,
        () ->
            store.wire.call(
                NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, forged, 0)));
  }

  /** What an owner has said before it ended may come after what it says since its next start. */
  @Test
  void aLateStateOfAnEndedStartBringsNothingBack() throws Exception {
    store.call(NameNodeOperations.SET_SHARE, said(5, 3, 10, "/first"));
    store.call(NameNodeOperations.CHECK_SHARES, check(6, 20));
    assertEquals(Set.of(), store.namenode.tree().spread().shares().keySet());
    store.call(NameNodeOperations.SET_SHARE, said(5, 3, 10, "/first"));
    store.call(NameNodeOperations.SET_SHARE, said(5, 5, 11, "/second"));
    assertEquals(Set.of(), store.namenode.tree().spread().shares().keySet());
    store.call(NameNodeOperations.SET_SHARE, said(6, 7, 21, "/third"));
    store.call(NameNodeOperations.CHECK_SHARES, check(5, 12));
    assertEquals(Set.of(7L), store.namenode.tree().spread().shares().keySet());
    // Of the next start, nothing has come before its first directory.
    store.call(NameNodeOperations.SET_SHARE, said(7, 9, 30, "/fourth"));
    assertEquals(Set.of(9L), store.namenode.tree().spread().shares().keySet());
    store.call(NameNodeOperations.SET_SHARE, said(6, 11, 22, "/fifth"));
    assertEquals(Set.of(9L), store.namenode.tree().spread().shares().keySet());
  }

  /** A start whose clock was set back has lower versions, and is served. */
  @Test
  void aStartWithLowerVersionsIsServed() throws Exception {
    store.call(NameNodeOperations.SET_SHARE, said(5, 3, 100, "/first"));
    store.call(NameNodeOperations.SET_SHARE, said(6, 5, 10, "/second"));
    store.call(NameNodeOperations.SET_SHARE, said(6, 7, 11, "/third"));
    assertEquals(Set.of(3L, 5L, 7L), store.namenode.tree().spread().shares().keySet());
  }

  /** A start that was taken for ended, and then says something newer, is served again. */
  @Test
  void aStartThatLivesOnIsServedAgain() throws Exception {
    store.call(NameNodeOperations.SET_SHARE, said(5, 3, 10, "/first"));
    store.call(NameNodeOperations.SET_SHARE, said(6, 5, 20, "/second"));
    store.call(NameNodeOperations.CHECK_SHARES, check(5, 30));
    store.call(NameNodeOperations.SET_SHARE, said(6, 7, 31, "/third"));
    assertEquals(Set.of(7L), store.namenode.tree().spread().shares().keySet());
  }

  private static SetShare.Request said(long start, long id, long version, String path) {
    return Shares.state(OWNER, start, id, version, SetShare.OPEN, true, 0, path, "", "");
  }

  private static CheckShares.Request check(long start, long version) {
    return new CheckShares.Request(OWNER, start, version, 0, -1, List.of());
  }

  private static int own(String prefix) {
    int i = 0;
    while (NodePath.namenodeOf(SpreadPath.of(3, 5, Utf8.of(prefix + i)), NAMENODES) != 0) {
      i++;
    }
    return i;
  }

  private static Utf8 path(int directory, String rest) {
    String prefix = "/spread" + directory;
    return SpreadPath.of(id(directory), prefix.length(), Utf8.of(prefix + rest));
  }

  /** A child that belongs to this namenode, or something below it. */
  private Utf8 child(int directory) {
    int i = random.nextInt(6);
    while (NodePath.namenodeOf(path(directory, "/c" + i), NAMENODES) != 0) {
      i++;
    }
    return path(directory, "/c" + i + (random.nextInt(4) == 0 ? "/below" : ""));
  }

  private void tried(int kind) {
    int directory = random.nextInt(DIRECTORIES);
    try {
      switch (kind) {
        case 0, 1, 2 -> say(directory);
        case 3 -> check();
        case 4, 5, 6 ->
            store.wire.call(
                NameNodeOperations.CREATE,
                TestStore.creation(
                    random.nextBoolean() ? NodeType.DIRECTORY : NodeType.DATAFILE,
                    child(directory),
                    0));
        case 7 ->
            store.wire.call(
                NameNodeOperations.REMOVE,
                new Remove.Request(random.nextBoolean(), child(directory)));
        case 8 ->
            store.wire.call(
                NameNodeOperations.RENAME,
                new Rename.Request(
                    random.nextBoolean(), child(directory), child(random.nextInt(DIRECTORIES))));
        case 9 -> lend();
        default -> store.wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(child(directory)));
      }
      outcomes.merge(ErrorCode.OK, 1, Integer::sum);
    } catch (CrailException e) {
      assertTrue(e.code() != ErrorCode.INTERNAL && e.code() != ErrorCode.PROTOCOL, e.toString());
      outcomes.merge(e.code(), 1, Integer::sum);
    }
  }

  private void say(int directory) throws CrailException {
    // Sometimes a state that was said before arrives late.
    long said = random.nextInt(4) == 0 ? version - random.nextInt(5) : ++version;
    int state = random.nextInt(5);
    state = state < 3 ? SetShare.OPEN : state == 3 ? SetShare.SEALED : SetShare.GONE;
    if (state == SetShare.GONE) {
      versions.remove(id(directory));
    } else {
      versions.put(id(directory), said);
    }
    SetShare.Request request =
        Shares.state(
            OWNER,
            incarnation,
            id(directory),
            said,
            state,
            random.nextInt(4) > 0,
            1000L * random.nextInt(2) + random.nextInt(2),
            "/spread" + directory,
            "user-" + random.nextInt(3),
            random.nextBoolean() ? "" : "group-" + random.nextInt(3));
    store.call(
        NameNodeOperations.SET_SHARE, random.nextInt(4) == 0 ? Shares.limited(request) : request);
  }

  private void lend() throws CrailException {
    List<LendQuota.Slice> slices = new ArrayList<>();
    for (int i = random.nextInt(2); i < DIRECTORIES; i += 2) {
      slices.add(new LendQuota.Slice(id(i), random.nextInt(1 << 20) - 1, random.nextInt(8) - 1));
    }
    long said = random.nextInt(4) == 0 ? version - random.nextInt(5) : ++version;
    store.call(
        NameNodeOperations.LEND_QUOTA, new LendQuota.Request(OWNER, incarnation, said, slices));
  }

  private LendQuota.Use lend(long start, long said, long names) throws CrailException {
    LendQuota.Slice slice = new LendQuota.Slice(id(0), -1, names);
    List<LendQuota.Use> uses =
        store
            .call(
                NameNodeOperations.LEND_QUOTA,
                new LendQuota.Request(OWNER, start, said, List.of(slice)))
            .uses();
    return uses.isEmpty() ? null : uses.get(0);
  }

  private void create(String name) throws CrailException {
    int i = 0;
    while (NodePath.namenodeOf(path(0, name + i), NAMENODES) != 0) {
      i++;
    }
    store.wire.call(
        NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, path(0, name + i), 0));
  }

  @Test
  void aShareNeverTakesMoreThanItWasLent() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    assertEquals(new LendQuota.Use(id(0), true, false, 0, 0, -1, 2), lend(5, 5, 2));
    assertEquals(new LendQuota.Use(id(0), true, false, 0, 0, -1, 2), lend(5, 4, 9), "late");
    assertNull(lend(4, 6, 9), "of an earlier start");
    create("/a");
    create("/b");
    Refusals.refused(ErrorCode.QUOTA_EXCEEDED, "part of the quota", () -> create("/c"));
    assertEquals(new LendQuota.Use(id(0), true, true, 0, 2, -1, 2), lend(5, 7, 1), "used");
    assertEquals(new LendQuota.Use(id(0), true, false, 0, 2, -1, 3), lend(5, 8, 3));
    create("/c");
    verify();
  }

  /** A start whose clock was set back lends with lower numbers. */
  @Test
  void aLoanOfAStartWithLowerNumbersCounts() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    lend(5, 100, 2);
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.limited(
            Shares.state(OWNER, 6, id(1), 1, SetShare.OPEN, true, 0, "/spread1", "", "")));
    LendQuota.Slice slice = new LendQuota.Slice(id(1), -1, 4);
    LendQuota.Request loan = new LendQuota.Request(OWNER, 6, 7, List.of(slice));
    assertEquals(
        List.of(new LendQuota.Use(id(1), true, false, 0, 0, -1, 4)),
        store.call(NameNodeOperations.LEND_QUOTA, loan).uses());
  }

  @Test
  void aShareThatIsMadeAgainTakesNothingUntilItIsLentSomething() throws Exception {
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.limited(
            Shares.state(OWNER, 5, id(0), 1, SetShare.OPEN, true, 0, "/spread0", "", "")));
    Refusals.refused(ErrorCode.QUOTA_EXCEEDED, "part of the quota", () -> create("/a"));
    assertEquals(new LendQuota.Use(id(0), true, true, 0, 0, -1, 1), lend(5, 2, 1));
    create("/a");
    verify();
  }

  @Test
  void aShareWithChildrenDoesNotBeginToCount() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    create("/a");
    assertEquals(new LendQuota.Use(id(0), false, false, 0, 0, -1, -1), lend(5, 2, 1));
    create("/b");
    verify();
  }

  @Test
  void aShareForWhichThereIsNoHeapDoesNotCountAndOthersDo() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    lend(5, 2, 1);
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.state(OWNER, 5, id(1), 3, SetShare.OPEN, true, 0, "/spread1", "", ""));
    HeapBudget budget = store.namenode.budget();
    long free = budget.capacity() - budget.used();
    budget.add(free);
    LendQuota.Request request =
        new LendQuota.Request(
            OWNER,
            5,
            4,
            List.of(new LendQuota.Slice(id(1), -1, 7), new LendQuota.Slice(id(0), -1, 7)));
    List<LendQuota.Use> uses = store.call(NameNodeOperations.LEND_QUOTA, request).uses();
    budget.give(free);
    assertEquals(
        List.of(
            new LendQuota.Use(id(1), false, false, 0, 0, -1, -1),
            new LendQuota.Use(id(0), true, false, 0, 0, -1, 7)),
        uses);
    verify();
  }

  /** Whoever has filled the heap can remove the directory that did it. */
  @Test
  void aRemovalNeedsNoHeap() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    create("/a");
    HeapBudget budget = store.namenode.budget();
    // More than all of it: not even what replaces something else has any.
    long all = budget.most() - budget.used();
    budget.add(all);
    Refusals.refused(ErrorCode.LIMIT_EXCEEDED, () -> create("/b"));
    sayOne(2, SetShare.SEALED, true);
    Refusals.refused(ErrorCode.BEING_REMOVED, () -> create("/b"));
    sayOne(3, SetShare.OPEN, true);
    Refusals.refused(ErrorCode.LIMIT_EXCEEDED, () -> create("/b"));
    sayOne(4, SetShare.SEALED, true);
    sayOne(5, SetShare.GONE, true);
    assertEquals(Set.of(), store.namenode.tree().spread().shares().keySet());
    store.namenode.tick();
    assertEquals(1, store.namenode.tree().size());
    budget.give(all);
    store.namenode.verify();
    model.verify(store.namenode);
  }

  private void check() throws CrailException {
    if (random.nextInt(10) == 0) {
      incarnation++;
      versions.clear();
    }
    List<CheckShares.Directory> directories = new ArrayList<>();
    versions.forEach((id, said) -> directories.add(new CheckShares.Directory(id, said)));
    List<Long> missing =
        store
            .call(
                NameNodeOperations.CHECK_SHARES,
                new CheckShares.Request(OWNER, incarnation, version, 0, -1, directories))
            .ids();
    long left = versions.keySet().stream().filter(id -> !missing.contains(id)).count();
    assertEquals(left, store.namenode.tree().spread().shares().size() - older(missing), "shares");
  }

  /** The shares that are there in a state that has to be said again. */
  private long older(List<Long> missing) {
    return missing.stream().filter(store.namenode.tree().spread().shares()::containsKey).count();
  }

  /** A state that was overtaken by the end of its directory, or is of an earlier start. */
  @Test
  void whatComesTooLateChangesNothing() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    sayOne(3, SetShare.GONE, false);
    sayOne(2, SetShare.OPEN, false);
    assertEquals(1, store.namenode.tree().size());
    sayOne(4, SetShare.OPEN, true);
    store.call(
        NameNodeOperations.CHECK_SHARES, new CheckShares.Request(OWNER, 4, 3, 0, -1, List.of()));
    assertEquals(2, store.namenode.tree().size());
    verify();
  }

  /** Whoever finds a directory of the new start must not find children of an old one. */
  @Test
  void theFirstShareOfANewStartEndsThoseOfEarlierOnes() throws Exception {
    sayOne(1, SetShare.OPEN, true);
    assertEquals(2, store.namenode.tree().size());
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.state(OWNER, 6, id(1), 2, SetShare.OPEN, true, 0, "/spread0", "", ""));
    assertEquals(Set.of(id(1)), store.namenode.tree().spread().shares().keySet());
    // What an earlier start has said before changes nothing.
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.state(OWNER, 5, id(2), 1, SetShare.OPEN, true, 0, "/spread2", "", ""));
    assertTrue(store.namenode.tree().spread().shares().containsKey(id(1)));
    verify();
  }

  private void sayOne(long said, int state, boolean makes) throws CrailException {
    store.call(
        NameNodeOperations.SET_SHARE,
        Shares.state(OWNER, 5, id(0), said, state, makes, 0, "/spread0", "", ""));
  }

  @Test
  void theRecordsSayAllOfTheShares() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      tried(random.nextInt(12));
      if (round % 50 == 0) {
        clock.advanceMillis(1);
        store.namenode.tick();
        verify();
      }
    }
    store.call(
        NameNodeOperations.CHECK_SHARES,
        new CheckShares.Request(OWNER, incarnation + 1, version, 0, -1, List.of()));
    store.namenode.tick();
    assertEquals(1, store.namenode.tree().size());
    verify();
    // Otherwise it has not tried them.
    for (ErrorCode code :
        List.of(
            ErrorCode.OK,
            ErrorCode.NO_SHARE,
            ErrorCode.BEING_REMOVED,
            ErrorCode.NODE_NOT_FOUND,
            ErrorCode.NODE_EXISTS)) {
      assertTrue(outcomes.containsKey(code), code + " is missing in " + outcomes);
    }
  }
}
