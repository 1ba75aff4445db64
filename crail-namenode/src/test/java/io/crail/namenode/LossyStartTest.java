/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A namenode whose answers do not wait for its log, on a disk that writes when the test says so.
 * After a crash it has lost the last changes, and nothing that it gives out belongs to somebody who
 * knows them. A lease lasts 10 s, the margin is 6 s.
 */
@Tag("once")
class LossyStartTest {
  private static final long SEGMENT_BYTES = 1 << 20;
  private static final long DELAY_MILLIS = 1000;
  private static final long MARGIN_MILLIS = 6000;
  private static final long LEASE_MILLIS = 10_000;
  private static final long REGION = 4L * BLOCK;

  private final ManualClock clock = new ManualClock();
  private final Random random = new Random(TestStore.seed());
  private final Queue<Runnable> writes = new ArrayDeque<>();
  @TempDir private Path directory;
  private boolean isAhead = true;
  private long snapshotRecords = Long.MAX_VALUE;
  private NameNodeLog opened;
  private LogHome home;
  private CommitLog log;
  private TestStore store;
  private int datanode;

  @BeforeEach
  void start() throws Exception {
    open();
  }

  @AfterEach
  void end() {
    crash();
  }

  private void open() throws CrailException, IOException {
    writes.clear();
    home =
        new LogHome(
            FileLogDirectory.open(directory),
            writes::add,
            Runnable::run,
            Runnable::run,
            () -> {},
            clock,
            SEGMENT_BYTES,
            snapshotRecords);
    if (isAhead) {
      home.ahead(DELAY_MILLIS * 1_000_000);
    }
    opened =
        NameNodeLog.open(
            home.directory(),
            home,
            NameNodeOptions.of(io.crail.common.config.Configuration.defaults(), 0, 1),
            clock,
            random,
            NameNode.ALONE);
    log = opened.log();
    store = TestStore.of(opened, clock);
  }

  /** All that was changed so far gets to the disk. */
  private void write() {
    home.tick();
    for (Runnable write = writes.poll(); write != null; write = writes.poll()) {
      write.run();
    }
  }

  /** The process is gone, with all that was not written. */
  private void crash() {
    home.abandon();
    home.close();
  }

  private void restart() throws Exception {
    crash();
    open();
    write();
  }

  private void restartInOrder() throws Exception {
    write();
    home.close();
    open();
    write();
  }

  private void datanode(boolean checks) throws Exception {
    datanode = store.datanode(1, "host", 0, checks, REGION);
    write();
  }

  private long incarnation() {
    return store.namenode.describe().incarnation();
  }

  private static Set<Long> places(List<Extent> extents) {
    Set<Long> places = new HashSet<>();
    extents.forEach(each -> places.add(each.place().offset()));
    return places;
  }

  private List<Extent> extents(String path) throws CrailException {
    return store.lookup(path).extents();
  }

  private long free() {
    return store.usage(0).freeBytes();
  }

  @Test
  void answersDoNotWaitAndAPrefixIsLeft() throws Exception {
    store.mkdir("/first");
    assertFalse(log.position() <= log.reached(), "a client, before its first change");
    write();
    long incarnation = incarnation();
    for (int i = 0; i < 10; i++) {
      store.mkdir("/d" + i);
      assertTrue(log.position() <= log.reached(), "the answer waits");
      if (i == 4) {
        write();
      }
    }
    restart();
    for (int i = 0; i < 10; i++) {
      if (i <= 4) {
        store.lookup("/d" + i);
      } else {
        String lost = "/d" + i;
        refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup(lost));
      }
    }
    assertNotEquals(incarnation, incarnation());
    // The loss is a part of the log.
    long next = incarnation();
    restartInOrder();
    assertEquals(next, incarnation());
    store.lookup("/d4");
    store.namenode.verify();
  }

  /** A client must not rest on what others than clients rest on. */
  @Test
  void answersWaitForDatanodesAndNumbers() throws Exception {
    assertFalse(log.position() <= log.reached(), "the first record of a start");
    write();
    store.datanode(1, "host", 0, true, REGION);
    assertFalse(log.position() <= log.reached(), "a datanode");
    write();
    assertTrue(log.position() <= log.reached());
  }

  @Test
  void idsOfLostNodesAreNotGivenAgain() throws Exception {
    write();
    long lost = store.mkdir("/lost").id();
    restart();
    assertTrue(store.mkdir("/next").id() > lost);
  }

  @Test
  void anOrderlyEndLosesNothing() throws Exception {
    datanode(true);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    List<Extent> extents = store.extend(id, 9, 0, 100);
    long incarnation = incarnation();
    restartInOrder();
    assertEquals(incarnation, incarnation());
    store.setSize(id, 9, 100, SetSize.END);
    assertEquals(places(extents), places(extents("/f")));
    // A start that has not written its first record has acknowledged nothing.
    crash();
    open();
    crash();
    open();
    write();
    assertNotEquals(incarnation, incarnation(), "the first of them was not written");
  }

  @Test
  void whatAnEarlierWayHasWrittenIsNotLost() throws Exception {
    restartInOrder();
    isAhead = false;
    restartInOrder();
    long incarnation = incarnation();
    restart();
    assertEquals(incarnation, incarnation(), "answers had waited");
    isAhead = true;
    restart();
    assertEquals(incarnation, incarnation(), "answers had waited");
    isAhead = false;
    restart();
    assertNotEquals(incarnation, incarnation(), "answers had not waited");
  }

  @Test
  void openWritersAreRefused() throws Exception {
    datanode(true);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, 100);
    store.setSize(id, 9, 60, SetSize.KEEP);
    write();
    final long lost = store.create(NodeType.DATAFILE, "/lost", 8).id();
    restart();
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.extend(id, 9, 100, 10));
    refused(ErrorCode.WRITE_LEASE_LOST, () -> store.setSize(id, 9, 100, SetSize.END));
    refused(ErrorCode.STALE_NODE, () -> store.extend(lost, 8, 0, 10));
    store.pass(1);
    assertEquals(60, store.lookup("/f").node().size());
    assertEquals(List.of(), store.acquire(id, 7).extents(), "it continues in other space");
    store.namenode.verify();
  }

  /** A client that has appended to it by a change that is lost may still write behind its bytes. */
  @Test
  void theNextWriterOfAClosedFileContinuesElsewhere() throws Exception {
    datanode(true);
    long id = store.write("/f", 100).id();
    final List<Extent> before = extents("/f");
    write();
    assertEquals(1, store.acquire(id, 8).extents().size(), "that of the lost append");
    restart();
    assertEquals(before.get(0).place(), extents("/f").get(0).place());
    assertEquals(List.of(), store.acquire(id, 7).extents());
    store.passAlive(MARGIN_MILLIS + 100, datanode);
    Extent next = store.extend(id, 7, 100, 10).get(0);
    assertFalse(places(before).contains(next.place().offset()));
    store.setSize(id, 7, 110, SetSize.END);
    // The same from the log.
    restartInOrder();
    assertEquals(2, extents("/f").size());
    store.namenode.verify();
  }

  /** Writes of a client that has got space by a lost change are refused, and have ended before. */
  @Test
  void spaceOfLostChangesRestsAndHasLaterGenerations() throws Exception {
    datanode(true);
    long id = store.create(NodeType.DATAFILE, "/lost", 9).id();
    Extent lost = store.extend(id, 9, 0, BLOCK).get(0);
    restart();
    store.create(NodeType.DATAFILE, "/f", 9);
    long next = store.lookup("/f").node().id();
    store.passAlive(MARGIN_MILLIS - 1000, datanode);
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(next, 9, 0, 4 * BLOCK));
    store.passAlive(2000, datanode);
    for (Extent each : store.extend(next, 9, 0, 4 * BLOCK)) {
      assertTrue(each.place().generation() > lost.place().generation());
    }
    store.namenode.verify();
  }

  /** Without generations, all that may have got space are cut off, once their leases are over. */
  @Test
  void clientsThatMayHaveGotSpaceAreCutOff() throws Exception {
    datanode(false);
    long id = store.create(NodeType.DATAFILE, "/lost", 9).id();
    assertFalse(log.position() <= log.reached(), "a client that is new is in the log first");
    write();
    store.extend(id, 9, 0, BLOCK);
    restart();
    passUncut(LEASE_MILLIS + MARGIN_MILLIS - 1000);
    assertEquals(0, alive(0).cutOff(), "its lease may still be good");
    long next = store.create(NodeType.DATAFILE, "/f", 8).id();
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(next, 8, 0, 10));
    passUncut(2000);
    KeepAlive.Response told = alive(0);
    assertTrue(told.clients().contains(TestStore.CLIENT), told + "");
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(next, 8, 0, 10));
    alive(told.cutOff());
    store.pass(100);
    store.extend(next, 8, 0, 10);
    store.namenode.verify();
  }

  /** However often the namenode starts: what is not cut off may still write. */
  @Test
  void spaceThatIsHeldBackIsSoAfterFurtherStartsAndInSnapshots() throws Exception {
    datanode(false);
    final long lost = store.create(NodeType.DATAFILE, "/lost", 9).id();
    write();
    store.extend(lost, 9, 0, BLOCK);
    restart();
    passUncut(LEASE_MILLIS + MARGIN_MILLIS + 1000);
    assertNotEquals(0, alive(0).cutOff(), "the datanode does not do it");
    isAhead = false;
    snapshotRecords = 1;
    restartInOrder();
    requireHeld();

    makeSnapshot();
    restartInOrder();
    requireHeld();
    passUncut(LEASE_MILLIS + MARGIN_MILLIS + 1000);
    KeepAlive.Response told = alive(0);
    assertTrue(told.clients().contains(TestStore.CLIENT), told + "");
    requireHeld();
    alive(told.cutOff());
    store.pass(100);

    // That it is over is in the log, too.
    restartInOrder();
    store.write("/f", 10);
    makeSnapshot();
    restartInOrder();
    store.write("/g", 10);
    store.namenode.verify();
  }

  private void requireHeld() throws CrailException {
    long id = store.create(NodeType.DATAFILE, "/n" + random.nextLong(), 8).id();
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(id, 8, 0, 10));
  }

  private void makeSnapshot() throws CrailException {
    long segment = ((ChangeLog) log).closed().segment();
    while (((ChangeLog) log).closed().segment() == segment) {
      store.mkdir("/d" + random.nextLong());
      write();
    }
    clock.advanceMillis(4 * LEASE_MILLIS);
    long made = opened.standing().snapshots();
    opened.checkpoints().tick(0);
    assertEquals(made + 1, opened.standing().snapshots());
  }

  /** The datanode lives, and does nothing of what it is asked for. */
  private void passUncut(long millis) throws Exception {
    for (long passed = 0; passed < millis; passed += 1000) {
      alive(0);
      store.pass(1000);
    }
  }

  private KeepAlive.Response alive(long done) throws Exception {
    return store.call(
        NameNodeOperations.KEEP_ALIVE, new KeepAlive.Request(datanode, false, done, 0, -1, -1));
  }

  /** Or a crash would leave a file whose bytes another one has overwritten. */
  @Test
  void spaceIsGivenOutAgainWhenItsEndIsDurable() throws Exception {
    datanode(true);
    store.write("/f", REGION);
    write();
    assertEquals(0, free());
    store.remove("/f", false);
    store.pass(100);
    assertEquals(0, free(), "the removal is not durable");
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(id, 9, 0, 10));
    store.namenode.verify();
    restart();
    assertEquals(REGION, store.lookup("/f").node().size());
    store.remove("/f", false);
    write();
    store.passAlive(MARGIN_MILLIS + 100, datanode);
    assertEquals(REGION, free());
    store.namenode.verify();
  }

  /** As when a writer has asked for more than it needs. */
  @Test
  void spaceThatAWriterGivesBackWaitsToo() throws Exception {
    datanode(true);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, REGION);
    write();
    store.setSize(id, 9, 10, SetSize.END);
    store.pass(100);
    assertEquals(0, free());
    write();
    store.pass(100);
    assertEquals(REGION - BLOCK, free());
    store.namenode.verify();
  }

  @Test
  void changesAreRefusedWhileTheOldestIsTooOld() throws Exception {
    write();
    clock.advanceMillis(10 * DELAY_MILLIS);
    assertTrue(home.tick());
    store.mkdir("/d");
    clock.advanceMillis(DELAY_MILLIS - 1);
    store.mkdir("/e");
    assertTrue(home.tick());
    clock.advanceMillis(1);
    assertFalse(home.tick());
    assertTrue(log.refusal().contains("too slow"), log.refusal());
    write();
    assertTrue(home.tick());
  }

  /** Whatever a disk does, what is not durable was made within the bound. */
  @Test
  void whatIsNotDurableIsOfABoundedSpan() throws Exception {
    write();
    Queue<Long> madeAt = new ArrayDeque<>();
    long durable = log.reached();
    int refusals = 0;
    for (int step = 0; step < 5000; step++) {
      clock.advanceMillis(random.nextInt(random.nextInt(100) == 0 ? 3000 : 60));
      if (random.nextInt(3) == 0) {
        home.tick();
      }
      // A disk that is fast, and one that stands still now and then.
      boolean isSlow = step % 500 < 250 && random.nextInt(40) > 0;
      for (int i = isSlow ? 0 : random.nextInt(3); i > 0 && !writes.isEmpty(); i--) {
        writes.poll().run();
      }
      for (; durable < log.reached(); durable++) {
        madeAt.poll();
      }
      if (log.refusal() == null) {
        if (!madeAt.isEmpty()) {
          long span = (clock.nanoTime() - madeAt.peek()) / 1_000_000;
          assertTrue(span < DELAY_MILLIS, span + " ms");
        }
        log.changed(new io.crail.namenode.change.Change.Unlink(1, 0));
        madeAt.add(clock.nanoTime());
      } else {
        refusals++;
      }
      log.position();
    }
    assertTrue(refusals > 100 && refusals < 4900, refusals + " refusals");
  }

  @Test
  void noAnswerLeavesAfterAFailure() throws Exception {
    write();
    assertTrue(log.position() <= log.reached());
    log.fail(new IOException("as asked for"));
    assertFalse(log.position() <= log.reached());
    assertTrue(log.hasFailed());
  }
}
