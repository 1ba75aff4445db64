/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.AnnounceSpace;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Right;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what happens to requests that are sent again because the answer was lost. An operation that
 * changes something is served once, and the second request gets the answer of the first. All others
 * change nothing, but for signs of life, which may come twice.
 */
class RepeatedRequestTest {
  /** They note the connection that they come by, so they are served as often as they come. */
  private static final Set<Operation<?, ?>> SIGNS_OF_LIFE =
      Set.of(
          NameNodeOperations.REGISTER_DATANODE,
          NameNodeOperations.KEEP_ALIVE,
          NameNodeOperations.RENEW_LEASES);

  private static final long TOKEN = 9;
  private static final int SEGMENT_BYTES = 1 << 20;
  private static final Utf8 FILE = Utf8.of("/d/f");

  /** A request to a new store, which {@link #prepare} has filled. */
  private interface Case<Q> {
    Q request(TestStore store, int datanode) throws CrailException;
  }

  @TempDir private Path logs;
  private final Map<Operation<?, ?>, List<Case<?>>> cases = new HashMap<>();
  private int datanode;

  RepeatedRequestTest() {
    namespace();
    files();
    datanodes();
    reports();
  }

  private <Q> void add(Operation<Q, ?> operation, Case<Q> made) {
    cases.computeIfAbsent(operation, key -> new ArrayList<>()).add(made);
  }

  private void namespace() {
    add(
        NameNodeOperations.CREATE,
        (store, datanode) -> TestStore.creation(NodeType.DATAFILE, "/d/new", TOKEN));
    add(
        NameNodeOperations.CREATE,
        (store, datanode) -> TestStore.replacement(NodeType.DATAFILE, "/d/f", TOKEN));
    add(
        NameNodeOperations.PUT,
        (store, datanode) -> TestStore.put("/table/k", TOKEN, new byte[] {1, 2, 3}));
    add(NameNodeOperations.LOOKUP, (store, datanode) -> new Lookup.Request(FILE));
    add(NameNodeOperations.REMOVE, (store, datanode) -> new Remove.Request(false, FILE));
    add(NameNodeOperations.REMOVE, (store, datanode) -> new Remove.Request(true, Utf8.of("/d")));
    add(
        NameNodeOperations.REMOVE,
        (store, datanode) ->
            new Remove.Request(false, store.lookup(FILE.toString()).node().id(), FILE));
    add(
        NameNodeOperations.RENAME,
        (store, datanode) -> new Rename.Request(false, FILE, Utf8.of("/g")));
    add(
        NameNodeOperations.RENAME,
        (store, datanode) -> new Rename.Request(true, FILE, Utf8.of("/other")));
    add(
        NameNodeOperations.SET_ATTRIBUTES,
        (store, datanode) ->
            new SetAttributes.Request(
                SetAttributes.ALL, 0600, 5, 6, FILE, Utf8.of("somebody"), Utf8.of("some")));
    add(
        NameNodeOperations.LIST_NODES,
        (store, datanode) -> new ListNodes.Request(store.lookup("/d").node().id(), 0, 10));
  }

  private static long open(TestStore store) throws CrailException {
    return store.lookup("/open").node().id();
  }

  private void files() {
    add(
        NameNodeOperations.SET_SIZE,
        (store, datanode) -> new SetSize.Request(open(store), TOKEN, 10, SetSize.KEEP));
    add(
        NameNodeOperations.SET_SIZE,
        (store, datanode) -> new SetSize.Request(open(store), TOKEN, 10, SetSize.END));
    add(
        NameNodeOperations.EXTEND,
        (store, datanode) -> new Extend.Request(open(store), TOKEN, 4096, 100_000, -1));
    add(
        NameNodeOperations.REPLACE_EXTENT,
        (store, datanode) -> {
          Extent extent = store.extend(open(store), TOKEN, 4096, 1).get(0);
          return new ReplaceExtent.Request(
              open(store),
              TOKEN,
              extent.fileOffset(),
              extent.length(),
              extent.place(),
              ReplaceExtent.PINNED);
        });
    add(
        NameNodeOperations.BEGIN_MOVE,
        (store, datanode) -> {
          store.datanode(2, "two", 0, true, 8L * TestStore.BLOCK);
          return move(store, datanode);
        });
    add(
        NameNodeOperations.COMMIT_MOVE,
        (store, datanode) -> {
          store.datanode(2, "two", 0, true, 8L * TestStore.BLOCK);
          BeginMove.Request move = move(store, datanode);
          BeginMove.Response begun = store.call(NameNodeOperations.BEGIN_MOVE, move);
          return new CommitMove.Request(
              move.id(),
              move.token(),
              begun.grant(),
              begun.bytes(),
              move.fileOffset(),
              move.place(),
              begun.target());
        });
    add(
        NameNodeOperations.ACQUIRE_LEASE,
        (store, datanode) -> new AcquireLease.Request(store.lookup("/d/f").node().id(), 11));
    add(
        NameNodeOperations.RENEW_LEASES,
        (store, datanode) ->
            new RenewLeases.Request(List.of(new RenewLeases.Lease(open(store), TOKEN))));
    add(
        NameNodeOperations.FIND_EXTENTS,
        (store, datanode) -> new FindExtents.Request(store.lookup("/d/f").node().id(), 0, 10));
    add(
        NameNodeOperations.LOCATIONS,
        (store, datanode) -> new Locations.Request(store.lookup("/d/f").node().id(), 0, 10));
  }

  /** The move of an extent of a closed file. */
  private static BeginMove.Request move(TestStore store, int datanode) throws CrailException {
    long id = store.lookup("/d/f").node().id();
    ListExtents.Request all = new ListExtents.Request(datanode, 0, 0, 0);
    for (ListExtents.Placed placed : store.call(NameNodeOperations.LIST_EXTENTS, all).extents()) {
      if (placed.id() == id) {
        return new BeginMove.Request(
            id, TOKEN, placed.fileOffset(), placed.place(), BeginMove.ANY_DATANODE);
      }
    }
    throw new AssertionError("no extent of /d/f");
  }

  private void datanodes() {
    add(
        NameNodeOperations.REGISTER_DATANODE,
        (store, datanode) -> TestStore.registration(1, "host", 1001, 0, true));
    add(
        NameNodeOperations.REGISTER_DATANODE,
        (store, datanode) -> TestStore.registration(5, "new", 1005, 0, true));
    add(
        NameNodeOperations.REGISTER_REGION,
        (store, datanode) ->
            new RegisterRegion.Request(datanode, 1, 4L * TestStore.BLOCK, 0, 0, 0));
    add(
        NameNodeOperations.KEEP_ALIVE,
        (store, datanode) -> new KeepAlive.Request(datanode, true, 0, 0, -1, -1));
    add(
        NameNodeOperations.REMOVE_DATANODE,
        (store, datanode) -> new RemoveDatanode.Request(true, 1001, Utf8.of("host")));
    add(NameNodeOperations.LEAD, (store, datanode) -> new Lead.Request(Lead.NONE));
    add(
        NameNodeOperations.ASK_PEER,
        (store, datanode) -> new AskPeer.Request(1, false, 7, 8, 1, SmallValue.NONE));
    add(NameNodeOperations.ANNOUNCE_SPACE, (store, datanode) -> new AnnounceSpace.Request(0, 1000));
    for (DrainAction action : DrainAction.values()) {
      add(
          NameNodeOperations.DRAIN_DATANODE,
          (store, datanode) -> new DrainDatanode.Request(1, 1, action));
    }
  }

  private void reports() {
    add(
        NameNodeOperations.HELLO,
        (store, datanode) ->
            new Hello.Request(
                Hello.MAGIC,
                Frame.VERSION,
                Frame.VERSION,
                Hello.ROLE_CLIENT,
                TestStore.CLIENT,
                Utf8.EMPTY,
                Utf8.of("tester")));
    add(NameNodeOperations.LOGIN, (store, datanode) -> new Login.Request(SmallValue.NONE));
    add(
        NameNodeOperations.DESCRIBE_DATANODE,
        (store, datanode) -> new DescribeDatanode.Request(datanode, -1));
    add(NameNodeOperations.LIST_DATANODES, (store, datanode) -> new ListDatanodes.Request(-1));
    add(NameNodeOperations.REPORT_DATANODES, (store, datanode) -> new ReportDatanodes.Request(-1));
    add(
        NameNodeOperations.REPORT_ACTIVITY,
        (store, datanode) -> new ReportActivity.Request(ReportActivity.FIRST, 10));
    add(
        NameNodeOperations.CREATE_SPREAD,
        (store, datanode) -> TestStore.creation(NodeType.TABLE, "/spread", 0));
    add(
        NameNodeOperations.OPERATE,
        (store, datanode) ->
            new Operate.Request(
                0644, Utf8.of("/spread/key"), List.of(Steps.create(), Steps.append("bytes"))));
    add(
        NameNodeOperations.OPERATE_READ,
        (store, datanode) ->
            new Operate.Request(
                0644, Utf8.of("/spread/key"), List.of(Steps.of(StepKind.READ_SIZE))));
    add(NameNodeOperations.STAGE, (store, datanode) -> TestStore.put("/table/k", TOKEN, 200_000));
    add(NameNodeOperations.OPERATE, (store, datanode) -> linking(store, false));
    add(
        NameNodeOperations.OPERATE,
        (store, datanode) -> {
          store.call(NameNodeOperations.OPERATE, linking(store, false));
          return linking(store, true);
        });
    add(NameNodeOperations.SET_SHARE, (store, datanode) -> Shares.open(1, 3, 5, "/s"));
    add(
        NameNodeOperations.CHECK_SHARES,
        (store, datanode) -> new CheckShares.Request(1, 5, 9, 0, -1, List.of()));
    add(
        NameNodeOperations.LEND_QUOTA,
        (store, datanode) ->
            new LendQuota.Request(1, 5, 9, List.of(new LendQuota.Slice(3, 1 << 20, 10))));
    add(NameNodeOperations.USAGE, (store, datanode) -> new Usage.Request());
    add(NameNodeOperations.PING, (store, datanode) -> new Ping.Request(7));
    // Its first page counts the requests themselves.
    add(NameNodeOperations.DUMP, (store, datanode) -> new Dump.Request(1));
    add(NameNodeOperations.LIST_SHARES, (store, datanode) -> new ListShares.Request(0));
    add(NameNodeOperations.EXAMINE, (store, datanode) -> new Examine.Request(0, 0, 0, true));
    add(
        NameNodeOperations.LIST_EXTENTS,
        (store, datanode) -> new ListExtents.Request(datanode, 0, 0, 0));
    add(NameNodeOperations.NAMES, (store, datanode) -> new Names.Request(0));
  }

  /** A list that links bytes, which it stages before. */
  private static Operate.Request linking(TestStore store, boolean isBehind) throws CrailException {
    long length = 200_000;
    long id =
        store.call(NameNodeOperations.STAGE, TestStore.put("/table/k", TOKEN, length)).node().id();
    return new Operate.Request(
        0644,
        Utf8.of("/table/k"),
        List.of(Steps.create().going(), Steps.link(id, TOKEN, length, isBehind)));
  }

  private static int prepare(TestStore store) throws CrailException {
    int datanode = store.datanode(8L * TestStore.BLOCK);
    store.mkdir("/d");
    store.write("/d/f", 5000);
    store.file("/other");
    store.create(NodeType.DATAFILE, "/open", TOKEN);
    store.create(NodeType.TABLE, "/table", 0);
    store.extend(open(store), TOKEN, 0, 100);
    return datanode;
  }

  /** All that the dump tells, but for how many requests there were. */
  private static String state(TestStore store) throws CrailException {
    StringBuilder text = new StringBuilder();
    for (long next = 0; next >= 0; ) {
      Dump.Response page = store.call(NameNodeOperations.DUMP, new Dump.Request(next));
      text.append(page.text());
      next = page.next();
    }
    return text.toString().lines().filter(line -> !line.startsWith("operation ")).toList()
        + " owners "
        + store.call(NameNodeOperations.NAMES, new Names.Request(0));
  }

  /** The answer as text, without what differs from one moment to the next. */
  private static String text(Object answer) {
    if (answer instanceof CrailException failure) {
      return failure.code() + " " + failure.detail();
    }
    String passing =
        "(silentMillis|drainMillis|ageMillis|leftMillis|requests|requestNanos|number|nanos"
            + "|others)=-?\\d+";
    return answer.toString().replaceAll(passing, "");
  }

  private <Q, R> Q request(Operation<Q, R> operation, Case<?> made, TestStore store)
      throws CrailException {
    datanode = prepare(store);
    @SuppressWarnings("unchecked")
    Q request = ((Case<Q>) made).request(store, datanode);
    return request;
  }

  /** A connection beside the one that asks for the state. */
  private static Wire wire(TestStore store, Operation<?, ?> operation) throws CrailException {
    Wire usual = store.wire(operation);
    return Wire.connect(store.server, usual.role(), usual.clientId());
  }

  private <Q, R> void isServedOnce(Operation<Q, R> operation, Case<?> made) throws CrailException {
    TestStore store = new TestStore();
    Q request = request(operation, made, store);
    Wire lost = wire(store, operation);
    final String first = text(lost.callAll(operation, List.of(request)).get(0));
    final Wire fresh = lost.replacement();
    final String then = state(store);
    // Time goes on until the client gives up waiting.
    store.passAlive(100, datanode);
    assertEquals(first, text(fresh.callAll(operation, List.of(request)).get(0)), "second answer");
    assertEquals(then, state(store), "what the second request has changed");
    store.namenode.verify();
  }

  private static LogHome home(Path directory, ManualClock clock, int snapshotRecords)
      throws IOException {
    return new LogHome(
        FileLogDirectory.open(directory),
        Runnable::run,
        Runnable::run,
        Runnable::run,
        () -> {},
        clock,
        SEGMENT_BYTES,
        snapshotRecords);
  }

  /** From its log, or from a snapshot that the start before has made of it. */
  private <Q, R> void isServedOnceOverAStart(Operation<Q, R> operation, Case<?> made)
      throws CrailException, IOException {
    ManualClock clock = new ManualClock();
    Path directory = Files.createTempDirectory(logs, operation.name());
    Q request;
    Wire lost;
    String first;
    try (LogHome home = home(directory, clock, Integer.MAX_VALUE)) {
      TestStore store = TestStore.durable(home, clock, new Random(1));
      request = request(operation, made, store);
      lost = wire(store, operation);
      first = text(lost.callAll(operation, List.of(request)).get(0));
    }
    for (int start = 0; start < 2; start++) {
      try (LogHome home = home(directory, clock, 0)) {
        TestStore store = TestStore.durable(home, clock, new Random(2));
        Wire fresh = lost.replacement(store.server);
        String then = state(store);
        assertEquals(
            first, text(fresh.callAll(operation, List.of(request)).get(0)), "start " + start);
        assertEquals(then, state(store), "what the second request has changed");
        store.namenode.verify();
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> whatChangesSomethingIsServedOnceOverStarts() {
    return each(true, this::isServedOnceOverAStart);
  }

  /** The power was gone between the write of a change and that of its answer. */
  @Test
  void aRequestWhoseAnswerTheLogHasLostIsNotServedAgain() throws Exception {
    ManualClock clock = new ManualClock();
    List<Remove.Request> remove = List.of(new Remove.Request(false, FILE));
    Wire lost;
    try (LogHome home = home(logs, clock, Integer.MAX_VALUE)) {
      TestStore store = TestStore.durable(home, clock, new Random(1));
      prepare(store);
      lost = wire(store, NameNodeOperations.REMOVE);
      lost.beforeAnswer(home::tick);
      assertFalse(lost.callAll(NameNodeOperations.REMOVE, remove).get(0) instanceof CrailException);
    }
    // The one of the close, and that with the answer.
    cutLastFrame(logs.resolve("0000000001.log"));
    cutLastFrame(logs.resolve("0000000001.log"));
    try (LogHome home = home(logs, clock, Integer.MAX_VALUE)) {
      TestStore store = TestStore.durable(home, clock, new Random(2));
      Wire fresh = lost.replacement(store.server);
      CrailException refused =
          (CrailException) fresh.callAll(NameNodeOperations.REMOVE, remove).get(0);
      assertEquals(ErrorCode.UNAVAILABLE, refused.code(), refused.getMessage());
      Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup(FILE.toString()));
      store.namenode.verify();
    }
  }

  private static void cutLastFrame(Path file) throws IOException {
    int page = 4096;
    byte[] bytes = Files.readAllBytes(file);
    int at = bytes.length;
    while (at > 0 && bytes[at - 1] == 0) {
      at--;
    }
    Arrays.fill(bytes, (at - 1) / page * page, bytes.length, (byte) 0);
    Files.write(file, bytes);
  }

  /** The first copy of the request is read last, from a connection that is lost. */
  private <Q, R> void aLateCopyIsNotServed(Operation<Q, R> operation, Case<?> made)
      throws CrailException {
    TestStore store = new TestStore();
    Q request = request(operation, made, store);
    Wire lost = wire(store, operation);
    lost.callAll(NameNodeOperations.PING, List.of(new Ping.Request(1)));
    Wire fresh = lost.replacement();
    fresh.callAll(operation, List.of(request));
    // In the same slot, so the client has its answer.
    if (operation.right() == Right.LEND) {
      fresh.call(operation, request);
    } else {
      fresh.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, "/later", 0));
    }
    final String then = state(store);
    lost.sameIdsAgain();
    Refusals.refused(ErrorCode.UNAVAILABLE, () -> lost.call(operation, request));
    assertEquals(then, state(store), "what the late copy has changed");
    store.namenode.verify();
  }

  private <Q, R> void changesNothing(Operation<Q, R> operation, Case<?> made)
      throws CrailException {
    TestStore store = new TestStore();
    Q request = request(operation, made, store);
    String before = state(store);
    String first = text(store.wire(operation).callAll(operation, List.of(request)).get(0));
    String then = state(store);
    if (!SIGNS_OF_LIFE.contains(operation)) {
      assertEquals(before, then, "what the request has changed");
    }
    store.passAlive(100, datanode);
    assertEquals(first, text(store.wire(operation).callAll(operation, List.of(request)).get(0)));
    assertEquals(then, state(store), "what the second request has changed");
  }

  @TestFactory
  Stream<DynamicTest> whatChangesSomethingIsServedOnce() {
    return each(
        true,
        (operation, made) -> {
          isServedOnce(operation, made);
          aLateCopyIsNotServed(operation, made);
        });
  }

  @TestFactory
  Stream<DynamicTest> allElseMayBeServedTwice() {
    return each(false, this::changesNothing);
  }

  private interface Check {
    void run(Operation<?, ?> operation, Case<?> made) throws CrailException, IOException;
  }

  private Stream<DynamicTest> each(boolean changes, Check check) {
    return NameNodeOperations.all().values().stream()
        .filter(operation -> operation.changes() == changes)
        .map(
            operation ->
                DynamicTest.dynamicTest(
                    operation.name(),
                    () -> {
                      List<Case<?>> requests = cases.getOrDefault(operation, List.of());
                      assertFalse(requests.isEmpty(), "no request for " + operation);
                      for (Case<?> made : requests) {
                        check.run(operation, made);
                      }
                    }));
  }

  /** A request that waits for its turn is served once it has one, on whichever connection. */
  @Test
  void aRequestThatWaitedForItsTurnIsNotTakenForServed() throws Exception {
    TestStore store = new TestStore();
    prepare(store);
    Wire lost = store.wire(NameNodeOperations.REMOVE);
    List<Remove.Request> remove = List.of(new Remove.Request(true, Utf8.of("/d")));
    assertEquals(List.of(), lost.callInTurns(NameNodeOperations.REMOVE, remove, 0));
    Wire fresh = lost.replacement();
    assertFalse(fresh.callAll(NameNodeOperations.REMOVE, remove).get(0) instanceof CrailException);
    lost.sameIdsAgain();
    assertFalse(lost.callAll(NameNodeOperations.REMOVE, remove).get(0) instanceof CrailException);
  }

  @Test
  void aRequestWhoseAnswerFoundNoMemoryIsNotServedAgain() throws Exception {
    TestStore store = new TestStore();
    prepare(store);
    Wire lost = wire(store, NameNodeOperations.REMOVE);
    Remove.Request remove = new Remove.Request(false, FILE);
    lost.refuseMemory();
    assertThrows(OutOfMemoryError.class, () -> lost.call(NameNodeOperations.REMOVE, remove));
    store.file(FILE.toString());
    Wire fresh = lost.replacement();
    Refusals.refused(ErrorCode.UNAVAILABLE, () -> fresh.call(NameNodeOperations.REMOVE, remove));
    store.lookup(FILE.toString());
  }

  @Test
  void aClientThatStaysAwayForLongerThanItsPatienceIsForgotten() throws Exception {
    TestStore store = new TestStore();
    datanode = prepare(store);
    Wire lost = Wire.connect(store.server, 77);
    Remove.Request remove = new Remove.Request(false, FILE);
    lost.call(NameNodeOperations.REMOVE, remove);
    lost.close();
    store.passAlive(Wire.PATIENCE_MILLIS - 100, datanode);
    store.namenode.tick();
    Wire again = lost.replacement();
    again.call(NameNodeOperations.REMOVE, remove);
    again.close();
    store.passAlive(Wire.PATIENCE_MILLIS, datanode);
    store.namenode.tick();
    Wire late = again.replacement();
    Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> late.call(NameNodeOperations.REMOVE, remove));
    store.namenode.verify();
  }
}
