/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.of;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.Lifetime;
import io.crail.compound.StepKind;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.protocol.part.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes whose lifetime is limited. */
class LifetimeTest {
  /** How late a node may end. */
  private static final long TICK = 100;

  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    store.datanode(1 << 20);
    store.create(NodeType.TABLE, "/t", 0);
    store.mkdir("/d");
  }

  /** All that was taken belongs to a node. */
  @AfterEach
  void nothingIsLost() {
    store.namenode.verify();
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    Operate.Response response =
        store.call(
            NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of(path), List.of(steps)));
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
    return response;
  }

  private static CompoundStep expire(long millis) {
    return of(StepKind.EXPIRE, millis);
  }

  private static CompoundStep sinceAccess(StepKind kind, long millis) {
    return of(kind, Comparison.EQUAL, millis, 1, "", "", "");
  }

  private static CompoundStep ofChildren(long millis) {
    return of(StepKind.EXPIRE_CHILDREN, millis);
  }

  private long remaining(String path) throws CrailException {
    return operate(path, of(StepKind.READ_LIFETIME)).results().get(0).number();
  }

  private int waiting() {
    return store.namenode.tree().extras().expiries().size();
  }

  private void exists(String... paths) throws CrailException {
    for (String path : paths) {
      store.lookup(path);
    }
  }

  private void isGone(String... paths) {
    for (String path : paths) {
      refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup(path));
    }
  }

  @Test
  void aNodeEndsWhenItsTimeIsOverAndNotBefore() throws Exception {
    operate("/t/k", create(), append("abc"), expire(2000));
    store.write("/d/f", 5000);
    operate("/d/f", expire(3000));
    assertEquals(3000, remaining("/d/f"));
    store.pass(1900);
    exists("/t/k", "/d/f");
    assertEquals(100, remaining("/t/k"));
    store.pass(TICK);
    isGone("/t/k");
    store.pass(900);
    exists("/d/f");
    store.pass(TICK);
    isGone("/d/f");
    assertEquals(0, waiting());
    assertEquals(2, store.namenode.rules().expiry().expired());
    exists("/t", "/d");
  }

  @Test
  void aContainerEndsWithAllBelow() throws Exception {
    store.mkdir("/d/sub");
    store.write("/d/sub/f", 5000);
    operate("/t/other", create());
    operate("/d", expire(1000));
    store.pass(1000);
    isGone("/d", "/d/sub", "/d/sub/f");
    exists("/t/other");
    assertEquals(0, store.usage(0).usedBytes());
  }

  @Test
  void theLastLifetimeThatWasSetCounts() throws Exception {
    operate("/t/longer", create(), expire(1000));
    operate("/t/always", create(), expire(1000));
    operate("/t/shorter", create(), expire(60_000));
    store.pass(900);
    operate("/t/longer", expire(1000));
    operate("/t/always", expire(0));
    operate("/t/shorter", expire(200));
    store.pass(200);
    isGone("/t/shorter");
    exists("/t/longer", "/t/always");
    assertEquals(-1, remaining("/t/always"));
    store.pass(800);
    isGone("/t/longer");
    store.pass(10_000);
    exists("/t/always");
    assertEquals(0, waiting());
  }

  @Test
  void anAccessPutsTheEndOff() throws Exception {
    operate("/t/read", create(), append("x"), sinceAccess(StepKind.EXPIRE, 1000));
    operate("/t/found", create(), append("x"), sinceAccess(StepKind.EXPIRE, 1000));
    operate("/t/operated", create(), append("x"), sinceAccess(StepKind.EXPIRE, 1000));
    operate("/t/left", create(), append("x"), sinceAccess(StepKind.EXPIRE, 1000));
    operate("/d", sinceAccess(StepKind.EXPIRE, 1000));
    store.file("/d/f");
    long found = store.lookup("/t/found").node().id();
    for (int i = 0; i < 5; i++) {
      store.pass(600);
      store.lookup("/t/read");
      store.find(found, 0);
      assertEquals(1000, remaining("/t/operated"));
      if (i < 1) {
        store.lookup("/d");
      }
    }
    isGone("/t/left", "/d");
    store.pass(900);
    exists("/t/operated");
    // That lookup was the last one.
    store.pass(TICK);
    isGone("/t/read", "/t/found");
    store.pass(900);
    isGone("/t/operated");
    assertEquals(0, waiting());
  }

  private void setAccessTime(String path, long millis) throws CrailException {
    store.call(
        NameNodeOperations.SET_ATTRIBUTES,
        new SetAttributes.Request(
            SetAttributes.ACCESSED, 0, 0, millis, Utf8.of(path), Utf8.EMPTY, Utf8.EMPTY));
  }

  @Test
  void aTimeThatAClientSetsIsAnAccessOfNow() throws Exception {
    for (String path : List.of("/t/old", "/t/coming")) {
      operate(path, create(), sinceAccess(StepKind.EXPIRE, 1000));
    }
    store.pass(900);
    setAccessTime("/t/old", 1);
    setAccessTime("/t/coming", Long.MAX_VALUE);
    store.pass(900);
    assertEquals(2, waiting());
    store.pass(TICK);
    assertEquals(0, waiting());
  }

  @Test
  void aFileLivesOnWhenItsWriterHasEnded() throws Exception {
    NodeInfo written = store.create(NodeType.DATAFILE, "/d/f", 9);
    operate("/d/f", sinceAccess(StepKind.EXPIRE, 1000));
    store.extend(written.id(), 9, 0, 10);
    for (int i = 0; i < 39; i++) {
      store.pass(100);
      store.acquire(written.id(), 9);
    }
    store.setSize(written.id(), 9, 10, SetSize.END);
    store.pass(900);
    assertEquals(1, waiting());
    store.pass(TICK);
    isGone("/d/f");
  }

  @Test
  void aNamenodeThatStoodStillMayHaveMissedAccesses() throws Exception {
    operate("/t/idle", create(), sinceAccess(StepKind.EXPIRE, 1000));
    operate("/t/fixed", create(), expire(1000));
    store.clock.advanceMillis(30_000);
    store.namenode.tick();
    isGone("/t/fixed");
    assertEquals(1, waiting());
    store.pass(900);
    assertEquals(1, waiting());
    store.pass(TICK);
    isGone("/t/idle");
  }

  @Test
  void aShortStandstillDoesNotPutOffALongLifetime() throws Exception {
    operate("/t/k", create(), sinceAccess(StepKind.EXPIRE, 60_000));
    for (int i = 0; i < 30; i++) {
      store.clock.advanceMillis(2000);
      store.namenode.tick();
    }
    isGone("/t/k");
  }

  @Test
  void aClockThatIsSetEndsNoLifetimeOfAccesses() throws Exception {
    operate("/t/k", create(), sinceAccess(StepKind.EXPIRE, 1000));
    store.clock.setForward(3_600_000);
    store.pass(900);
    assertEquals(1, waiting());
    store.lookup("/t/k");
    // What has happened is still to come by this clock.
    store.clock.setForward(-3_600_000);
    store.pass(900);
    store.lookup("/t/k");
    store.pass(900);
    exists("/t/k");
    // Its end was noted by the clock that was ahead.
    operate("/t/k", sinceAccess(StepKind.EXPIRE, 1000));
    store.pass(1000);
    isGone("/t/k");
  }

  @Test
  void newChildrenHaveTheLifetimeThatTheirContainerGives() throws Exception {
    operate("/t/before", create());
    operate("/t", ofChildren(1000));
    operate("/t/made", create());
    operate("/t/own", create(), expire(5000));
    store.call(NameNodeOperations.PUT, TestStore.put("/t/put", 0, new byte[] {1}));
    store.call(NameNodeOperations.PUT, TestStore.put("/t/before", 0, new byte[] {1}));
    operate("/d", sinceAccess(StepKind.EXPIRE_CHILDREN, 1000));
    store.mkdir("/d/sub");
    store.file("/d/sub/f");
    store.file("/d/f");
    assertEquals(1000, remaining("/d/f"));
    assertEquals(-1, remaining("/d/sub/f"));
    assertEquals(-1, remaining("/t"));
    store.pass(900);
    exists("/t/made", "/t/put", "/t/before", "/d/f");
    store.pass(TICK);
    isGone("/t/made", "/t/put", "/t/before", "/d/sub", "/d/sub/f");
    exists("/t/own", "/d/f");
    operate("/t", ofChildren(0));
    operate("/t/later", create());
    store.pass(4000);
    isGone("/t/own", "/d/f");
    exists("/t/later");
    assertEquals(0, waiting());
  }

  @Test
  void aListThatMakesAValueSeesAndSetsItsLifetime() throws Exception {
    operate("/t", ofChildren(1000));
    assertEquals(
        1000, operate("/t/a", create(), of(StepKind.READ_LIFETIME)).results().get(1).number());
    operate("/t/b", create(), expire(0));
    operate("/t/c", create(), expire(5000));
    operate("/t/c", of(StepKind.DELETE), create());
    assertEquals(-1, remaining("/t/b"));
    assertEquals(1000, remaining("/t/c"));
    StepResult read = operate("/t", of(StepKind.READ_CHILDREN_LIFETIME)).results().get(0);
    assertEquals(1000, read.number());
    assertEquals(0, read.data().length());
    operate("/t", sinceAccess(StepKind.EXPIRE_CHILDREN, 7));
    read = operate("/t", of(StepKind.READ_CHILDREN_LIFETIME)).results().get(0);
    assertEquals(7, read.number());
    assertEquals(1, read.data().length());
    read = operate("/d", of(StepKind.READ_CHILDREN_LIFETIME)).results().get(0);
    assertEquals(-1, read.number());
  }

  /** Whatever comes together: all end in time, and what is left is what was counted. */
  @Test
  void endsKeepStepWithRequests() throws Exception {
    long seed = TestStore.seed();
    AtomicBoolean ended = new AtomicBoolean();
    List<Future<Integer>> clients = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int i = 0; i < 2; i++) {
        Random random = new Random(seed + i);
        Wire wire = Wire.connect(store.server, TestStore.CLIENT + 10 + i);
        clients.add(threads.submit(() -> load(wire, random, ended)));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
      while (System.nanoTime() < end) {
        store.pass(10);
      }
      ended.set(true);
      for (Future<Integer> client : clients) {
        assertTrue(client.get(30, TimeUnit.SECONDS) > 100);
      }
    } finally {
      ended.set(true);
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
    }
    store.pass(1000);
    assertEquals(0, waiting());
  }

  private int load(Wire wire, Random random, AtomicBoolean ended) {
    int done = 0;
    while (!ended.get()) {
      String table = "/d/t" + random.nextInt(2);
      String path = table + "/" + random.nextInt(4);
      StepKind kind = random.nextInt(4) == 0 ? StepKind.EXPIRE_CHILDREN : StepKind.EXPIRE;
      String target = kind == StepKind.EXPIRE && random.nextInt(4) > 0 ? path : table;
      try {
        switch (random.nextInt(6)) {
          case 0 ->
              wire.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.TABLE, table, 0));
          case 1 -> wire.call(NameNodeOperations.PUT, TestStore.put(path, 0, new byte[] {1}));
          case 2 -> wire.call(NameNodeOperations.REMOVE, new Remove.Request(true, Utf8.of(target)));
          default ->
              wire.call(
                  NameNodeOperations.OPERATE,
                  new Operate.Request(
                      0644,
                      Utf8.of(target),
                      List.of(
                          create().going(),
                          of(
                              kind,
                              Comparison.EQUAL,
                              1 + random.nextInt(50),
                              random.nextInt(2),
                              "",
                              "",
                              ""))));
        }
        done++;
      } catch (CrailException e) {
        // What it is about may be gone.
        assertTrue(e.code() != ErrorCode.INTERNAL, e.toString());
      }
    }
    return done;
  }

  @Test
  void aValueThatIsToReplaceAnotherHasALifetimeToo() throws Exception {
    operate("/t", ofChildren(2000));
    store.call(NameNodeOperations.PUT, TestStore.put("/t/k", 0, new byte[] {1}));
    store.pass(1000);
    NodeInfo coming = store.call(NameNodeOperations.PUT, TestStore.put("/t/k", 9, 200_000L)).node();
    assertEquals(2, waiting());
    store.pass(500);
    store.setSize(coming.id(), 9, 200_000, SetSize.END);
    assertEquals(1, waiting());
    store.pass(1400);
    assertEquals(coming.id(), store.lookup("/t/k").node().id());
    store.pass(TICK);
    isGone("/t/k");
  }

  @Test
  void whatIsReplacedOrRemovedWaitsForNothing() throws Exception {
    operate("/t/k", create(), expire(60_000));
    store.call(NameNodeOperations.PUT, TestStore.put("/t/k", 0, new byte[] {1}));
    operate("/t/removed", create(), expire(60_000));
    store.remove("/t/removed", false);
    store.file("/d/f");
    operate("/d/f", expire(60_000));
    store.remove("/d", true);
    assertEquals(0, waiting());
    store.pass(61_000);
    exists("/t/k");
  }

  @Test
  void aRenamedNodeKeepsItsLifetime() throws Exception {
    store.mkdir("/e");
    store.file("/d/f");
    operate("/d/f", expire(1000));
    operate("/e", ofChildren(100));
    store.rename("/d/f", "/e/g");
    store.file("/d/other");
    store.rename("/d/other", "/e/other");
    store.rename("/e", "/moved");
    store.pass(900);
    exists("/moved/g");
    store.pass(TICK);
    isGone("/moved/g");
    exists("/moved/other");
  }

  @Test
  void aListThatFailsSetsNoLifetime() throws Exception {
    operate("/t/k", create());
    Operate.Response failed =
        store.call(
            NameNodeOperations.OPERATE,
            new Operate.Request(0, Utf8.of("/t/k"), List.of(expire(10), of(StepKind.ABSENT))));
    assertEquals(1, failed.failed());
    store.pass(200);
    exists("/t/k");
    for (CompoundStep wrong :
        List.of(
            expire(-1),
            expire(Lifetime.MAX_MILLIS + 1),
            expire(Long.MAX_VALUE),
            sinceAccess(StepKind.EXPIRE, 0))) {
      assertEquals(ErrorCode.INVALID_ARGUMENT.number(), code("/t/k", wrong));
    }
    assertEquals(ErrorCode.WRONG_TYPE.number(), code("/t/k", ofChildren(10)));
    assertEquals(0, waiting());
  }

  private int code(String path, CompoundStep step) throws CrailException {
    return store
        .call(NameNodeOperations.OPERATE, new Operate.Request(0, Utf8.of(path), List.of(step)))
        .results()
        .get(0)
        .code();
  }

  @Test
  void manyNodesEndWithinASecond() throws Exception {
    int count = 120_000;
    operate("/t", ofChildren(1000));
    for (int i = 0; i < count; i++) {
      store.call(NameNodeOperations.PUT, TestStore.put("/t/" + i, 0, new byte[] {1}));
    }
    assertEquals(count, waiting());
    store.pass(1000 + TICK * 9);
    assertEquals(0, waiting());
    assertEquals(0, store.lookup("/t").node().childCount());
  }

  @Test
  void aChildOfAShareEnds() throws Exception {
    store = new TestStore(new ManualClock(), 0, 2);
    store.call(NameNodeOperations.SET_SHARE, Shares.open(1, 3, 5, "/s"));
    Utf8 child = ownChild(3, "/s");
    store.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, child, 0));
    store.call(NameNodeOperations.OPERATE, new Operate.Request(0, child, List.of(expire(1000))));
    store.pass(900);
    assertEquals(1, waiting());
    store.pass(TICK);
    assertEquals(0, waiting());
    assertEquals(0, store.namenode.tree().spread().shares().get(3L).childCount());
  }

  private static Utf8 ownChild(long spread, String directory) {
    for (int i = 0; ; i++) {
      Utf8 child = SpreadPath.of(spread, directory.length(), Utf8.of(directory + "/c" + i));
      if (NodePath.namenodeOf(child, 2) == 0) {
        return child;
      }
    }
  }
}
