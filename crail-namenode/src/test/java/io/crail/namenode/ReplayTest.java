/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.StepKind;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.LimitChange;
import io.crail.namenode.change.Replay;
import io.crail.namenode.change.ReserveChange;
import io.crail.namenode.change.SpaceChange;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.rule.SpreadStandings;
import io.crail.namenode.tree.Container;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests what records do not say when a namenode is made of them: how long space rests, and leases
 * last. That all else is there is shown by {@code ChangeTest}.
 */
class ReplayTest {
  private static final long LEASE = 10_000;
  private static final long MARGIN = 6_000;

  private final ManualClock clock = new ManualClock();
  private final List<Change> records = new ArrayList<>();
  private final TestStore store;

  ReplayTest() throws CrailException {
    store = new TestStore(clock, records::add);
  }

  @Test
  void spaceThatWasFreedLatelyRests() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    store.write("/x", 2 * TestStore.BLOCK);
    store.write("/y", TestStore.BLOCK);
    store.remove("/x", false);
    TestStore next = store.replayed(records);
    assertEquals(TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
    next.passAlive(LEASE, datanode);
    assertEquals(TestStore.BLOCK, next.usage(0).freeBytes(), "clients may still access it");
    next.passAlive(MARGIN + 100, datanode);
    assertEquals(3 * TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
  }

  @Test
  void bytesThatWereStagedInARemovedDirectoryAreInNoSnapshot() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    store.mkdir("/d");
    store.create(NodeType.TABLE, "/d/t", 0);
    // The last node that was made: nothing else shows that its id was given.
    Put.Request put = TestStore.put("/d/t/k", 9, TestStore.BLOCK);
    long id = store.call(NameNodeOperations.STAGE, put).node().id();
    store.extend(id, 9, 0, TestStore.BLOCK);
    store.remove("/d", true);
    TestStore next = store.copied();
    next.namenode.verify();
    assertNull(next.namenode.tree().find(id));
    assertEquals(3 * TestStore.BLOCK, next.usage(0).freeBytes(), "its writer may write there");
    next.passAlive(LEASE + MARGIN + 100, datanode);
    assertEquals(4 * TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
  }

  @Test
  void spaceThatWasFreedLongAgoHasRested() throws Exception {
    store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    store.write("/x", TestStore.BLOCK);
    store.remove("/x", false);
    NameNode next =
        new NameNode(
            store.namenode.options(),
            clock,
            new Random(2),
            null,
            NameNode.ALONE,
            store.namenode.lineage());
    Replay replay = next.replay();
    replay.at(5);
    for (Change record : records) {
      replay.apply(record);
    }
    replay.at(5 + (LEASE + MARGIN) * 1_000_000 + 1);
    replay.end();
    next.verify();
    assertEquals(4 * TestStore.BLOCK, next.datanodes().usage().get(0).freeBytes());
  }

  @Test
  void spaceThatWasTakenAgainBelongsToItsNewNode() throws Exception {
    store.datanode(1, "host", 0, true, 2 * TestStore.BLOCK);
    for (int i = 0; i < 5; i++) {
      store.write("/x", 2 * TestStore.BLOCK);
      store.remove("/x", false);
      // The tier checks generations, so that its space need not rest.
      store.write("/y", 2 * TestStore.BLOCK);
      store.remove("/y", false);
    }
    store.write("/x", 2 * TestStore.BLOCK);
    List<Extent> extents = store.lookup("/x").extents();
    TestStore next = store.replayed(records);
    assertEquals(extents, next.lookup("/x").extents());
    next.namenode.verify();
    assertEquals(0, next.usage(0).freeBytes());
  }

  @Test
  void aGenerationIsNeverGivenTwice() throws Exception {
    store.datanode(1, "host", 0, true, 2 * TestStore.BLOCK);
    store.write("/x", TestStore.BLOCK);
    long before = store.lookup("/x").extents().get(0).place().generation();
    store.remove("/x", false);
    TestStore next = store.replayed(records);
    next.write("/y", TestStore.BLOCK);
    next.write("/z", TestStore.BLOCK);
    for (String path : List.of("/y", "/z")) {
      assertTrue(next.lookup(path).extents().get(0).place().generation() > before, path);
    }
  }

  @Test
  void noIdIsGivenTwice() throws Exception {
    long before = store.mkdir("/x").id();
    store.remove("/x", false);
    TestStore next = store.replayed(records);
    assertEquals(store.lookup("/").node().id(), next.lookup("/").node().id());
    assertTrue(next.mkdir("/y").id() > before);
  }

  /** Ids are said to other namenodes, and versions are, before a record has them. */
  @Test
  void noNumberIsGivenTwiceThatNoRecordHas() throws Exception {
    List<Change> changes = new ArrayList<>();
    TestStore first = new TestStore(clock, 0, 2, changes::add);
    first.pass(100);
    clock.advanceMillis(60_000);
    final long version = first.namenode.standings().page(0).version();
    final long id = first.namenode.tree().newId();
    clock.setForward(-120_000);
    TestStore next = first.replayed(changes);
    assertTrue(next.namenode.standings().page(0).version() > version);
    assertTrue(next.namenode.tree().newId() > id);
    assertEquals(0, Long.remainderUnsigned(next.namenode.tree().newId(), 2));
  }

  @Test
  void numbersAreReservedBeforeTheyAreUsed() throws Exception {
    List<Change> changes = new ArrayList<>();
    TestStore first = new TestStore(clock, 0, 2, changes::add);
    for (int i = 0; i < 100; i++) {
      first.pass(100);
      ReserveChange reserved = (ReserveChange) changes.get(changes.size() - 1);
      assertTrue(first.namenode.standings().page(0).version() < reserved.versions());
      assertTrue(first.namenode.tree().lastId() < reserved.nodeIds());
      clock.advanceMillis(60_000);
      for (int id = 0; id < 1_000_000; id++) {
        first.namenode.tree().newId();
      }
    }
    assertTrue(changes.size() < 20, "" + changes.size());
  }

  @Test
  void noIdOfADatanodeIsGivenTwice() throws Exception {
    int before = store.datanode(1, "host", 0, true, TestStore.BLOCK);
    store.pass(20 * 60_000);
    TestStore next = store.replayed(records);
    int id = next.datanode(2, "host", 0, true, TestStore.BLOCK);
    assertTrue(id > before && id < before + 10_000, id + " after " + before);
  }

  @Test
  void aSuccessorRemainsOne() throws Exception {
    store.datanode(1, "host", 0, true, TestStore.BLOCK);
    assertFalse(store.replayed(records).rule().isSuccessor());
    RegisterDatanode.Description other =
        TestStore.registration(2, "host", 1002, 0, true).description();
    store.call(
        NameNodeOperations.REGISTER_DATANODE,
        new RegisterDatanode.Request(
            2, 2, 0, 1002, false, true, other.tier(), other.host(), other.traits()));
    assertTrue(store.rule().isSuccessor());
    assertTrue(store.replayed(records).rule().isSuccessor());
  }

  @Test
  void otherOptionsAreRefused() throws Exception {
    store.mkdir("/x");
    Refusals.refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> store.replayed(records, "crail.blocksize", "2m").mkdir("/y"));
  }

  @Test
  void aWriterGoesOnForAWholeLease() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    store.extend(id, 9, 0, 100);
    store.passAlive(LEASE - 100, datanode);
    TestStore next = store.replayed(records);
    next.passAlive(LEASE - 100, datanode);
    next.setSize(id, 9, 100, SetSize.END);
    assertEquals(100, next.lookup("/x").node().size());

    TestStore silent = store.replayed(records);
    silent.passAlive(LEASE + 100, datanode);
    CrailException lost =
        assertThrows(CrailException.class, () -> silent.setSize(id, 9, 100, SetSize.END));
    assertEquals(ErrorCode.WRITE_LEASE_LOST, lost.code());
  }

  @Test
  void leasesAndSignsOfLifeBeginAtTheEnd() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    store.extend(id, 9, 0, 100);
    TestStore next = store.replayed(records, 60_000);
    next.pass(1_000);
    next.setSize(id, 9, 100, SetSize.KEEP);
    next.write("/y", 100);
    next.passAlive(1_000, datanode);
    next.setSize(id, 9, 100, SetSize.END);
  }

  @Test
  void whatIsCreatedInARemovedDirectoryKeepsItsIdAndItsGeneration() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    long directory = store.mkdir("/a").id();
    final int before = records.size();
    long id = store.create(NodeType.DATAFILE, "/a/x", 9).id();
    final long generation = store.extend(id, 9, 0, TestStore.BLOCK).get(0).place().generation();
    store.remove("/a", true);
    // As if the directory had been removed while its child was made.
    Change removal = records.remove(records.size() - 1);
    assertEquals(directory, ((Change.Unlink) removal).id());
    records.add(before, removal);
    TestStore next = store.replayed(records);
    assertEquals(3 * TestStore.BLOCK, next.usage(0).freeBytes(), "its writer may still write");
    assertTrue(next.mkdir("/b").id() > id);
    next.write("/y", TestStore.BLOCK);
    assertTrue(next.lookup("/y").extents().get(0).place().generation() > generation);
    next.passAlive(LEASE + MARGIN + 100, datanode);
    assertEquals(3 * TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
  }

  @Test
  void theLimitsOfASpreadDirectoryAreDividedAgain() throws Exception {
    final long id = store.mkdir("/a").id();
    store.call(
        NameNodeOperations.OPERATE,
        new Operate.Request(0644, Utf8.of("/a"), List.of(Steps.limit(1 << 20, 10))));
    records.replaceAll(ReplayTest::spread);
    Container directory = (Container) store.replayed(records).namenode.tree().find(id);
    assertTrue(directory.quota().isDivided());
    assertEquals(new Quota.Limits(1 << 20, 10), directory.quota().usage().limits());
  }

  @Test
  void theTimeWithoutANamenodeCountsAsAccesses() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    long hour = 3_600_000;
    for (String name : List.of("/t/idle", "/t/timed")) {
      CompoundStep expire =
          Steps.of(
              StepKind.EXPIRE, Comparison.EQUAL, hour, name.equals("/t/idle") ? 1 : 0, "", "", "");
      store.call(
          NameNodeOperations.OPERATE,
          new Operate.Request(0644, Utf8.of(name), List.of(Steps.create(), expire)));
    }
    clock.advanceMillis(2 * hour);
    TestStore next = store.replayed(records);
    next.pass(1_000);
    next.lookup("/t/idle");
    Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> next.lookup("/t/timed"));
    next.pass(hour + 1_000);
    Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> next.lookup("/t/idle"));
  }

  @Test
  void whatWasAdmittedIsAdmittedWithLowerLimits() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      store.datanode(i, "host-" + i, 0, true, TestStore.BLOCK);
      store.file("/" + "n".repeat(200) + i);
    }
    store.create(NodeType.DATAFILE, "/x", 9);
    store.create(NodeType.DATAFILE, "/y", 9);
    TestStore next =
        store.replayed(records, "crail.namenode.memory", "1m", "crail.namenode.maxleases", "1");
    assertEquals(2, next.namenode.leases().size());
    assertTrue(next.namenode.budget().used() > next.namenode.budget().capacity());
    next.namenode.verify();
  }

  /** In quadratic time, this would take more than a minute. */
  @Test
  @Timeout(60)
  void aFileThatGrewBlockByBlockTakesLinearTime() throws Exception {
    int blocks = 50_000;
    store.datanode((long) blocks * TestStore.BLOCK);
    long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    for (long i = 0; i < blocks; i++) {
      store.extend(id, 9, i * TestStore.BLOCK, TestStore.BLOCK);
      store.setSize(id, 9, i * TestStore.BLOCK + 1, SetSize.KEEP);
    }
    TestStore next = store.replayed(records);
    assertEquals(store.lookup("/x").node(), next.lookup("/x").node());
    assertEquals(
        store.find(id, (blocks - 1L) * TestStore.BLOCK).extents(),
        next.find(id, (blocks - 1L) * TestStore.BLOCK).extents());
  }

  @Test
  void aRegionOfAnotherNamenodeRestsForItsWholeTime() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, TestStore.BLOCK);
    store.region(datanode, 1, TestStore.BLOCK, 7);
    TestStore next = store.replayed(records);
    assertEquals(TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
    next.passAlive(LEASE + MARGIN - 100, datanode);
    assertEquals(TestStore.BLOCK, next.usage(0).freeBytes());
    next.passAlive(200, datanode);
    assertEquals(2 * TestStore.BLOCK, next.usage(0).freeBytes());
    next.namenode.verify();
  }

  @Test
  void aRegionHasRestedWhenANodeHasSpaceOfIt() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, TestStore.BLOCK);
    store.region(datanode, 1, TestStore.BLOCK, 7);
    store.passAlive(LEASE + MARGIN + 100, datanode);
    store.write("/x", TestStore.BLOCK);
    store.write("/y", 4096);
    TestStore next = store.replayed(records);
    assertEquals(TestStore.BLOCK - 4096, next.usage(0).freeBytes());
    next.namenode.verify();
  }

  @Test
  void aRegionThatRestsKeepsNoDatanode() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, TestStore.BLOCK);
    store.region(datanode, 1, TestStore.BLOCK, 7);
    store.pass(20 * 60_000);
    assertEquals(List.of(), List.copyOf(store.namenode.datanodes().present()));
    TestStore next = store.replayed(records);
    assertEquals(List.of(), List.copyOf(next.namenode.datanodes().present()));
    next.namenode.verify();
  }

  @Test
  void aWriterThatHasLostItsSpaceIsCutOff() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    final long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    store.extend(id, 9, 0, TestStore.BLOCK);
    store.remove("/x", false);
    TestStore next = store.replayed(records);
    assertEquals(List.of(TestStore.CLIENT), cutOffAfterAWhile(next, datanode).clients());
    assertEquals(3 * TestStore.BLOCK, next.usage(0).freeBytes(), "it may still write");
    next.passAlive(200, datanode);
    assertEquals(4 * TestStore.BLOCK, next.usage(0).freeBytes());
  }

  @Test
  void aClientThatCopiesIsCutOff() throws Exception {
    final int one = store.datanode(1, "host", 0, false, TestStore.BLOCK);
    int two = store.datanode(2, "host", 0, false, TestStore.BLOCK);
    long id = store.write("/x", TestStore.BLOCK).id();
    Place place = store.lookup("/x").extents().get(0).place();
    store.call(
        NameNodeOperations.BEGIN_MOVE,
        new BeginMove.Request(id, 5, 0, place, BeginMove.ANY_DATANODE));
    TestStore next = store.replayed(records);
    int target = place.datanode() == one ? two : one;
    assertEquals(List.of(TestStore.CLIENT), cutOffAfterAWhile(next, target).clients());
    next.namenode.verify();
  }

  /**
   * Its readers may have its location, and a datanode that is being removed must not end before.
   */
  @Test
  void theFormerSpaceOfWhatWasMovedRests() throws Exception {
    int[] datanodes = {
      store.datanode(1, "host", 0, true, TestStore.BLOCK),
      store.datanode(2, "host", 0, true, TestStore.BLOCK)
    };
    long id = store.write("/x", TestStore.BLOCK).id();
    Place place = store.lookup("/x").extents().get(0).place();
    BeginMove.Response move =
        store.call(
            NameNodeOperations.BEGIN_MOVE,
            new BeginMove.Request(id, 5, 0, place, BeginMove.ANY_DATANODE));
    store.call(
        NameNodeOperations.COMMIT_MOVE,
        new CommitMove.Request(id, 5, move.grant(), move.bytes(), 0, place, move.target()));
    TestStore next = store.replayed(records);
    assertEquals(0, next.usage(0).freeBytes());
    next.namenode.verify();
    next.passAlive(LEASE + MARGIN + 100, datanodes);
    assertEquals(TestStore.BLOCK, next.usage(0).freeBytes());
  }

  @Test
  void aWriterWhoseLastExtentWasSealedIsCutOff() throws Exception {
    int datanode = store.datanode(1, "host", 0, false, 4 * TestStore.BLOCK);
    long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    store.extend(id, 9, 0, TestStore.BLOCK);
    store.setSize(id, 9, 100, SetSize.KEEP);
    for (int i = 0; i < 20; i++) {
      alive(store, datanode);
      store.pass(1_000);
    }
    KeepAlive.Response before = alive(store, datanode);
    assertEquals(List.of(TestStore.CLIENT), before.clients());
    TestStore next = store.replayed(records);
    KeepAlive.Response after = alive(next, datanode);
    assertEquals(List.of(TestStore.CLIENT), after.clients());
    assertNotEquals(before.cutOff(), after.cutOff(), "the datanode may have done that list");
  }

  /** What a datanode is asked to do once all leases have ended. */
  private static KeepAlive.Response cutOffAfterAWhile(TestStore next, int datanode)
      throws CrailException {
    for (int i = 0; i < 20; i++) {
      alive(next, datanode);
      next.pass(1_000);
    }
    return alive(next, datanode);
  }

  private static KeepAlive.Response alive(TestStore store, int datanode) throws CrailException {
    return store.rule().keepAlive(TestStore.sign(datanode, Long.MAX_VALUE), TestStore.caller(""));
  }

  @Test
  void sharesOfASpreadDirectoryRemain() throws Exception {
    List<Change> changes = new ArrayList<>();
    TestStore owner = new TestStore(clock, 0, 2, changes::add);
    int i = 0;
    while (NodePath.namenodeOf(Utf8.of("/a" + i), 2) != 0) {
      i++;
    }
    long id = owner.mkdir("/a" + i).id();
    changes.replaceAll(ReplayTest::spread);
    TestStore other = new TestStore(clock, 1, 2);
    SetShare.Request made =
        Shares.state(
            0,
            owner.namenode.lineage().incarnation(),
            id,
            clock.currentTimeMillis() << 10,
            SetShare.OPEN,
            true,
            0,
            "/a" + i,
            "",
            "");
    other.call(NameNodeOperations.SET_SHARE, made);
    clock.advanceMillis(1_000);
    SpreadStandings standings = owner.replayed(changes).namenode.standings();
    CheckShares.Response answer = other.call(NameNodeOperations.CHECK_SHARES, standings.page(0));
    assertEquals(Set.of(id), other.namenode.tree().spread().shares().keySet());
    assertEquals(List.of(id), answer.ids(), "it is to be said again");
    SetShare.Request said = standings.present(id, true);
    assertEquals(SetShare.OPEN, said.state());
    other.call(NameNodeOperations.SET_SHARE, said);
    assertEquals(said.version(), other.namenode.tree().spread().shares().get(id).version());
  }

  private static Change spread(Change change) {
    if (change instanceof Change.Link link) {
      return new Change.Link(
          link.parent(),
          link.accessedMillis(),
          link.attributes(),
          link.replaces(),
          link.whole(),
          link.type(),
          link.storageClass(),
          link.host(),
          link.name(),
          spread(link.contents()));
    }
    return change instanceof LimitChange limit
        ? new LimitChange(limit.bytes(), limit.names(), spread(limit.contents()))
        : change;
  }

  private static Change.Contents spread(Change.Contents of) {
    return new Change.Contents(
        of.id(),
        of.size(),
        of.modifiedMillis(),
        of.flags() | NodeInfo.SPREAD,
        of.token(),
        of.client(),
        of.ending(),
        of.from(),
        of.to(),
        of.end(),
        of.value(),
        of.replaces(),
        of.moved(),
        of.extents(),
        of.bytes(),
        of.attributes(),
        of.extras());
  }

  @Test
  void recordsThatDoNotFitAreDamage() throws Exception {
    store.datanode(1, "host", 0, true, 4 * TestStore.BLOCK);
    store.write("/x", TestStore.BLOCK);
    store.write("/y", 100);
    store.remove("/x", false);
    store.mkdir("/d");
    store.write("/d/z", 100);
    store.remove("/d", true);
    store.mkdir("/e");
    store.rename("/e", "/f");
    for (int i = 0; i < records.size(); i++) {
      // Without what the others refer to, or twice.
      List<Change> lacking = new ArrayList<>(records);
      Change left = lacking.remove(i);
      boolean isNeeded =
          left instanceof Change.Link
              || left instanceof SpaceChange
                  && !(left instanceof SpaceChange.User user && user.user() == 0);
      if (isNeeded) {
        assertDamage(lacking, "without " + left);
      }
      List<Change> twice = new ArrayList<>(records);
      twice.add(i, left);
      if (left instanceof Change.Link) {
        assertDamage(twice, "twice " + left);
      }
    }
  }

  @Test
  void bytesThatContradictThemselvesAreDamage() throws Exception {
    store.datanode(1, "host", 0, true, 8 * TestStore.BLOCK);
    long id = store.create(NodeType.DATAFILE, "/x", 9).id();
    store.extend(id, 9, 0, TestStore.BLOCK);
    store.extend(id, 9, TestStore.BLOCK, TestStore.BLOCK);
    store.setSize(id, 9, TestStore.BLOCK + 100, SetSize.END);
    store.create(NodeType.TABLE, "/t", 0);
    store.call(NameNodeOperations.PUT, TestStore.put("/t/v", 9, new byte[100]));
    store.mkdir("/d");
    store.replayed(records);
    for (int i = 0; i < records.size(); i++) {
      for (Change damaged : damaged(records.get(i))) {
        List<Change> changes = new ArrayList<>(records);
        changes.set(i, damaged);
        assertDamage(changes, damaged.toString());
      }
    }
  }

  private static List<Change> damaged(Change change) {
    List<Change> damaged = new ArrayList<>();
    if (change instanceof SpaceChange.Datanode datanode) {
      damaged.add(
          new SpaceChange.Datanode(
              datanode.id(), datanode.host(), 9, false, datanode.description()));
    } else if (change instanceof Change.Contents contents) {
      damaged.addAll(damaged(contents));
    } else if (change instanceof Change.Link link) {
      damaged(link.contents()).forEach(each -> damaged.add(link(link, link.name(), each)));
      for (long id : new long[] {1, Long.MAX_VALUE - 1}) {
        Change.Contents of = link.contents();
        Change.Contents other = contents(of, id, of.size(), of.end(), of.value(), of.extents());
        damaged.add(link(link, link.name(), other));
      }
      damaged.add(link(link, Utf8.of("a/b"), link.contents()));
      damaged.add(link(link, Utf8.of(".."), link.contents()));
    }
    return damaged;
  }

  private static Change.Link link(Change.Link link, Utf8 name, Change.Contents contents) {
    return new Change.Link(
        link.parent(),
        link.accessedMillis(),
        link.attributes(),
        link.replaces(),
        link.whole(),
        link.type(),
        link.storageClass(),
        link.host(),
        name,
        contents);
  }

  private static List<Change.Contents> damaged(Change.Contents of) {
    List<Change.Contents> damaged = new ArrayList<>();
    damaged.add(contents(of, of.id(), of.end() + 1, of.end(), of.value(), of.extents()));
    damaged.add(contents(of, of.id(), -1, of.end(), of.value(), of.extents()));
    damaged.add(contents(of, of.id(), of.size(), of.end() + 1, of.value(), of.extents()));
    damaged.add(contents(of, of.id(), of.size(), of.end(), 4, of.extents()));
    damaged.add(
        contents(of, of.id(), of.size(), of.end(), Change.Contents.LONGER_VALUE, of.extents()));
    if (of.value() == Change.Contents.NEW_VALUE) {
      damaged.add(
          contents(of, of.id(), of.size(), of.end(), Change.Contents.NO_VALUE, of.extents()));
    } else {
      damaged.add(
          contents(of, of.id(), of.size(), of.end(), Change.Contents.NEW_VALUE, of.extents()));
    }
    for (Change.Held held : of.extents()) {
      Extent extent = held.extent();
      long offset = extent.fileOffset();
      for (Extent wrong :
          List.of(
              new Extent(offset + 1, extent.length() - 1, extent.place()),
              new Extent(offset, extent.length() + 4096, extent.place()),
              new Extent(offset, 0, extent.place()),
              new Extent(offset, extent.length() - 1, extent.place()))) {
        List<Change.Held> extents = new ArrayList<>(of.extents());
        extents.replaceAll(each -> each == held ? new Change.Held(wrong, held.allocated()) : each);
        damaged.add(contents(of, of.id(), of.size(), of.end(), of.value(), extents));
      }
    }
    return damaged;
  }

  private static Change.Contents contents(
      Change.Contents of, long id, long size, long end, int value, List<Change.Held> extents) {
    return new Change.Contents(
        id,
        size,
        of.modifiedMillis(),
        of.flags(),
        of.token(),
        of.client(),
        of.ending(),
        of.from(),
        of.to(),
        end,
        value,
        of.replaces(),
        of.moved(),
        extents,
        of.bytes(),
        of.attributes(),
        of.extras());
  }

  private void assertDamage(List<Change> changes, String how) {
    CrailException damage = assertThrows(CrailException.class, () -> store.replayed(changes), how);
    assertEquals(ErrorCode.INTERNAL, damage.code(), how);
  }
}
