/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
import io.crail.namenode.ManualClock;
import io.crail.namenode.NameNode;
import io.crail.namenode.Steps;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that all changes go through the one door: a model that sees only the records of changes
 * knows all that the namenode knows. Random requests; {@code -Dcrail.seed=} repeats a run.
 */
@Tag("once")
class ChangeTest {
  private static final String[] DIRECTORIES = {"", "/a", "/b", "/a/c"};
  private static final String[] NAMES = {"x", "y", "a-name-that-is-too-long-to-be-inline"};
  private static final int ROUNDS = 12_000;
  private static final int PREFIXES = 600;
  private static final int MOST_ROUNDS = 10 * ROUNDS;
  private static final long MOST_BYTES = 4L << 20;

  private final ManualClock clock = new ManualClock();
  private long seed;
  private Random cuts;
  private ChangeModel model;
  private final List<Change> records = Collections.synchronizedList(new ArrayList<>());
  private volatile ChangeSink onChange = change -> {};
  private TestStore store;
  private int[] datanodes;

  @BeforeEach
  void start() throws CrailException {
    seed = TestStore.seed();
    cuts = new Random(seed);
    model = new ChangeModel();
    store =
        new TestStore(
            clock,
            change -> {
              synchronized (model) {
                model.changed(change);
                records.add(change);
              }
              onChange.changed(change);
            });
    model.begin(store.namenode);
    // One that checks generations, and one that cuts clients off.
    datanodes =
        new int[] {
          store.datanode(1, "one", 0, true, 16L << 20),
          store.datanode(2, "two", 0, false, 16L << 20)
        };
    for (int i = 0; i < DIRECTORIES.length; i++) {
      tables(store.wire, i);
    }
  }

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
    int covered = cuts.nextInt(records.size() + 1);
    NameNode checkpointed = store.checkpointed(records, covered).namenode;
    model.verify(checkpointed);
    checkpointed.verify();
  }

  /** Makes a directory and its table, if they are not there. */
  private static void tables(Wire wire, int index) {
    if (index > 0) {
      tried(() -> make(wire, NodeType.DIRECTORY, DIRECTORIES[index]));
    }
    if (index % 2 == 1) {
      // Two quotas, one within the other; what is elsewhere has none.
      tried(() -> limit(wire, DIRECTORIES[index], MOST_BYTES, -1));
    }
    tried(() -> make(wire, NodeType.TABLE, DIRECTORIES[index] + "/t"));
  }

  private static void limit(Wire wire, String path, long bytes, long names) throws CrailException {
    wire.call(
        NameNodeOperations.OPERATE,
        new Operate.Request(0644, Utf8.of(path), List.of(Steps.limit(bytes, names))));
  }

  private static void make(Wire wire, NodeType type, String path) throws CrailException {
    wire.call(NameNodeOperations.CREATE, TestStore.creation(type, path, 0));
  }

  private interface Request {
    void send() throws CrailException;
  }

  /** Sends a request that may be refused, for what others have done. */
  private static void tried(Request request) {
    try {
      request.send();
    } catch (CrailException e) {
      assertTrue(e.code() != ErrorCode.INTERNAL && e.code() != ErrorCode.PROTOCOL, e.toString());
    }
  }

  /** A put whose bytes are to come. */
  private record Begun(long id, long token, int length) {}

  /** Bytes that are staged for a path. */
  private record Staged(String path, long id, long token, long length) {}

  /** A client that does random things, also what it is not allowed to do. */
  private final class Client {
    private final Random random;
    private final Wire wire;
    private final List<Long> made = new ArrayList<>();
    private final List<Begun> puts = new ArrayList<>();
    private final List<Staged> staged = new ArrayList<>();

    Client(long id) throws CrailException {
      random = new Random(seed + id);
      wire = Wire.connect(store.server, id);
    }

    private String path() {
      String directory = DIRECTORIES[random.nextInt(DIRECTORIES.length)];
      String table = random.nextInt(3) == 0 ? "" : "/t";
      return directory + table + "/" + NAMES[random.nextInt(NAMES.length)];
    }

    private String any() {
      return random.nextInt(20) == 0 ? DIRECTORIES[1 + random.nextInt(3)] : path();
    }

    private long token() {
      return random.nextInt(4) == 0 ? 2 : 1;
    }

    private int length() {
      return random.nextInt(4) == 0 ? random.nextInt(3 << 20) : random.nextInt(10_000);
    }

    /** A node that is there, or a put that is under way. */
    private long id() throws CrailException {
      if (made.isEmpty() || random.nextInt(3) == 0) {
        return wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(path())))
            .node()
            .id();
      }
      return made.get(random.nextInt(made.size()));
    }

    private void made(long id) {
      if (made.size() == 20) {
        made.remove(random.nextInt(20));
      }
      made.add(id);
    }

    void round() throws CrailException {
      switch (random.nextInt(34)) {
        case 30, 31 -> stage();
        case 32, 33 -> link();
        case 28, 29 ->
            limit(
                wire,
                random.nextInt(4) == 0 ? path() : DIRECTORIES[1 + 2 * random.nextInt(2)],
                random.nextInt(4) == 0 ? -1 : random.nextLong(MOST_BYTES),
                random.nextInt(4) == 0 ? -1 : random.nextLong(12));
        case 23, 24, 25, 26, 27 ->
            wire.call(
                NameNodeOperations.OPERATE,
                new Operate.Request(0644, Utf8.of(any()), Steps.random(random)));
        case 15, 16, 17, 18 -> finish();
        case 14 -> tables(wire, random.nextInt(DIRECTORIES.length));
        case 0 -> {
          Create.Request create =
              new Create.Request(
                  random.nextInt(5) == 0 ? NodeType.DIRECTORY : NodeType.DATAFILE,
                  true,
                  random.nextBoolean(),
                  random.nextBoolean(),
                  0644,
                  Create.PARENT_CLASS,
                  random.nextBoolean() ? token() : 0,
                  Utf8.of(path()),
                  Utf8.of(random.nextBoolean() ? "one" : ""));
          made(wire.call(NameNodeOperations.CREATE, create).node().id());
        }
        case 1 -> {
          String path = path();
          NodeType type = path.contains("/t/") ? NodeType.KEYVALUE : NodeType.DATAFILE;
          made(
              wire.call(NameNodeOperations.CREATE, TestStore.creation(type, path, token()))
                  .node()
                  .id());
        }
        case 2, 3, 4 -> {
          int length = length();
          long token = token();
          boolean carried = length < 5000 && random.nextBoolean();
          Put.Request put =
              carried
                  ? TestStore.put(path(), token, new byte[length])
                  : TestStore.put(path(), token, length);
          long id = wire.call(NameNodeOperations.PUT, put).node().id();
          made(id);
          puts.add(new Begun(id, token, length));
        }
        case 5, 6 ->
            wire.call(
                NameNodeOperations.EXTEND,
                new Extend.Request(id(), token(), random.nextInt(2) * 4096L, length(), length()));
        case 7, 8 -> {
          int length = random.nextInt(3) == 0 ? 0 : length();
          boolean carries = length > 0 && length < 4096 && random.nextBoolean();
          int close = carries ? SetSize.END : random.nextInt(3);
          SmallValue value = carries ? SmallValue.of(new byte[length]) : SmallValue.NONE;
          wire.call(
              NameNodeOperations.SET_SIZE,
              new SetSize.Request(id(), token(), length, close, value));
        }
        case 9, 19, 20, 21 ->
            wire.call(
                NameNodeOperations.RENAME,
                new Rename.Request(random.nextBoolean(), Utf8.of(any()), Utf8.of(any())));
        case 10 ->
            wire.call(
                NameNodeOperations.REMOVE,
                new Remove.Request(random.nextBoolean(), Utf8.of(any())));
        case 11 ->
            wire.call(
                NameNodeOperations.SET_ATTRIBUTES,
                new SetAttributes.Request(
                    random.nextInt(SetAttributes.ALL + 1),
                    random.nextInt(01000),
                    random.nextInt(1000),
                    random.nextInt(1000),
                    Utf8.of(any()),
                    Utf8.of("user-" + random.nextInt(3)),
                    Utf8.of("group-" + random.nextInt(3))));
        case 12 ->
            wire.call(NameNodeOperations.ACQUIRE_LEASE, new AcquireLease.Request(id(), token()));
        default -> extent();
      }
    }

    private void stage() throws CrailException {
      String path =
          DIRECTORIES[random.nextInt(DIRECTORIES.length)] + "/t/" + NAMES[random.nextInt(2)];
      long token = token();
      long length = 1 + length();
      long id = wire.call(NameNodeOperations.STAGE, TestStore.put(path, token, length)).node().id();
      made(id);
      staged.add(new Staged(path, id, token, length));
    }

    private void link() throws CrailException {
      if (staged.isEmpty()) {
        return;
      }
      // The leases of most others have run out.
      int index = staged.size() - 1 - random.nextInt(Math.min(4, staged.size()));
      Staged bytes = random.nextBoolean() ? staged.remove(index) : staged.get(index);
      if (random.nextInt(10) == 0) {
        wire.call(
            NameNodeOperations.SET_SIZE,
            new SetSize.Request(bytes.id, bytes.token, 0, 1 + random.nextInt(2)));
        return;
      }
      if (random.nextInt(3) == 0) {
        // Otherwise there is nearly always a key.
        List<CompoundStep> delete = List.of(Steps.of(StepKind.DELETE).going());
        wire.call(
            NameNodeOperations.OPERATE, new Operate.Request(0644, Utf8.of(bytes.path), delete));
      }
      List<CompoundStep> steps = new ArrayList<>();
      if (random.nextInt(3) > 0) {
        steps.add(Steps.of(StepKind.CREATE).going());
      }
      steps.add(Steps.link(bytes.id, bytes.token, bytes.length, random.nextBoolean()));
      if (random.nextInt(3) == 0) {
        steps.addAll(Steps.random(random));
      }
      wire.call(NameNodeOperations.OPERATE, new Operate.Request(0644, Utf8.of(bytes.path), steps));
    }

    /** Writes all of a value, or a part of it. */
    private void finish() throws CrailException {
      if (puts.isEmpty()) {
        return;
      }
      Begun put = puts.remove(random.nextInt(puts.size()));
      long size = random.nextInt(4) == 0 ? put.length / 2 : put.length;
      if (size < 4096 && random.nextBoolean()) {
        SmallValue value = SmallValue.of(new byte[(int) size]);
        wire.call(
            NameNodeOperations.SET_SIZE,
            new SetSize.Request(put.id, put.token, size, SetSize.END, value));
        return;
      }
      wire.call(NameNodeOperations.EXTEND, new Extend.Request(put.id, put.token, 0, size, -1));
      wire.call(
          NameNodeOperations.SET_SIZE,
          new SetSize.Request(put.id, put.token, size, random.nextInt(3) / 2));
    }

    private void extent() throws CrailException {
      Lookup.Response found =
          wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(path())));
      if (found.extents().isEmpty()) {
        return;
      }
      Extent extent = found.extents().get(random.nextInt(found.extents().size()));
      long id = found.node().id();
      long token = token();
      long from = extent.fileOffset();
      if (random.nextBoolean()) {
        wire.call(
            NameNodeOperations.REPLACE_EXTENT,
            new ReplaceExtent.Request(
                id, token, from, extent.length(), extent.place(), random.nextInt(4)));
        return;
      }
      BeginMove.Response move =
          wire.call(
              NameNodeOperations.BEGIN_MOVE,
              new BeginMove.Request(id, token, from, extent.place(), BeginMove.ANY_DATANODE));
      if (random.nextInt(4) > 0) {
        wire.call(
            NameNodeOperations.COMMIT_MOVE,
            new CommitMove.Request(
                id, token, move.grant(), move.bytes(), from, extent.place(), move.target()));
      }
    }
  }

  /** Datanodes that come and go, and an operator who drains and removes them. */
  private final class Crowd {
    private static final int ADDRESSES = 3;

    private final Random random = new Random(seed);
    private final long[] processes = new long[ADDRESSES];
    private final int[] ids = new int[ADDRESSES];
    private long lastProcess = 10;

    void round() throws CrailException {
      int which = random.nextInt(ADDRESSES);
      switch (random.nextInt(8)) {
        case 0 -> register(which, ++lastProcess);
        case 1 -> register(which, processes[which]);
        case 2, 3 ->
            store.call(
                NameNodeOperations.DRAIN_DATANODE,
                new DrainDatanode.Request(
                    processes[which],
                    processes[which],
                    random.nextBoolean() ? DrainAction.BEGIN : DrainAction.CANCEL));
        case 4 ->
            store.call(
                NameNodeOperations.REMOVE_DATANODE,
                new RemoveDatanode.Request(
                    random.nextInt(4) == 0, 1000 + which, Utf8.of("crowd-" + which)));
        case 5 -> region(which, random.nextInt(3), random.nextInt(3) / 2 * 1_000_000);
        default ->
            store
                .rule()
                .keepAlive(TestStore.sign(ids[which], Long.MAX_VALUE), TestStore.caller(""));
      }
    }

    private void register(int which, long process) throws CrailException {
      ids[which] =
          store
              .call(
                  NameNodeOperations.REGISTER_DATANODE,
                  TestStore.registration(process, "crowd-" + which, 1000 + which, 0, which > 0))
              .datanode();
      processes[which] = process;
      region(which, 0, 0);
    }

    private void region(int which, int index, long generation) throws CrailException {
      store.call(
          NameNodeOperations.REGISTER_REGION,
          new RegisterRegion.Request(ids[which], index, 1L << 20, 0, 0, generation));
    }
  }

  @Test
  void theRecordsOfChangesSayAllThatIsThere() throws Exception {
    Client[] clients = {new Client(5), new Client(6)};
    Random random = new Random(seed);
    Crowd crowd = new Crowd();
    // A kind that needs several requests in a row may take some more rounds to come.
    for (int round = 0;
        round < ROUNDS || round < MOST_ROUNDS && !model.kindsBelow(1).isEmpty();
        round++) {
      tried(clients[random.nextInt(2)]::round);
      if (random.nextInt(10) == 0) {
        tried(crowd::round);
      }
      if (random.nextInt(40) == 0) {
        // One of the datanodes may be silent, so that moves to it are undone.
        store.passAlive(random.nextInt(12_000), datanodes[0], datanodes[random.nextInt(2)]);
      }
      if (round % 50 == 0) {
        model.verify(store.namenode);
      }
      if (round % 2_000 == 0) {
        verify();
      }
    }
    verify();
    // Otherwise it has not tried them.
    assertEquals(List.of(), model.kindsBelow(1), () -> model.kinds().toString());
  }

  /** A log may end behind any record, also between two of one request. */
  @Test
  void anyFirstPartOfTheRecordsIsWhole() throws Exception {
    Client[] clients = {new Client(5), new Client(6)};
    Random random = new Random(seed);
    while (records.size() < PREFIXES || model.kindsBelow(1).contains("Link staged")) {
      tried(clients[random.nextInt(2)]::round);
      if (random.nextInt(3) == 0) {
        tried(clients[random.nextInt(2)]::stage);
      }
      store.passAlive(random.nextInt(1_500), datanodes);
    }
    int kept = 0;
    for (int count = 1; count <= records.size(); count++) {
      TestStore first = store.replayed(records.subList(0, count));
      first.namenode.verify();
      Tree tree = first.namenode.tree();
      kept += tree.pending().isAnyStaged() ? 1 : 0;
      first.pass(2 * 10_000);
      assertFalse(tree.pending().isAnyStaged(), "seed " + seed + ", " + count + " records");
      first.namenode.verify();
    }
    assertTrue(kept > 0, "seed " + seed);
  }

  @Test
  void nothingLeavesASubtreeOnceItsRemovalIsRecorded() throws Exception {
    make(store.wire, NodeType.DATAFILE, "/a/c/x");
    Wire wire = Wire.connect(store.server, 5);
    Rename.Request rename = new Rename.Request(false, Utf8.of("/a/c/x"), Utf8.of("/b/x"));
    AtomicReference<ErrorCode> outcome = new AtomicReference<>(ErrorCode.OK);
    Thread renamer =
        new Thread(
            () -> {
              try {
                wire.call(NameNodeOperations.RENAME, rename);
              } catch (CrailException e) {
                outcome.set(e.code());
              }
            });
    long removed = store.lookup("/a").node().id();
    onChange =
        change -> {
          if (change instanceof Change.Unlink unlink && unlink.id() == removed) {
            renamer.start();
            // Until it is done, or waits for the end of the removal.
            while (renamer.isAlive() && renamer.getState() != Thread.State.WAITING) {
              Thread.onSpinWait();
            }
          }
        };
    store.remove("/a", true);
    renamer.join();
    assertEquals(ErrorCode.NODE_NOT_FOUND, outcome.get());
    model.verify(store.namenode);
  }

  @Test
  void aDirectoryThatGetsAChildDoesNotMoveToAnotherQuota() throws Exception {
    make(store.wire, NodeType.DIRECTORY, "/b/d");
    Wire wire = Wire.connect(store.server, 5);
    Rename.Request rename = new Rename.Request(false, Utf8.of("/b/d"), Utf8.of("/a/d"));
    Thread renamer = new Thread(() -> tried(() -> wire.call(NameNodeOperations.RENAME, rename)));
    onChange =
        change -> {
          if (change instanceof Change.Link) {
            renamer.start();
            // Until it is done, or waits for the lock of the directory.
            while (renamer.isAlive() && renamer.getState() != Thread.State.BLOCKED) {
              Thread.onSpinWait();
            }
          }
        };
    make(store.wire, NodeType.DATAFILE, "/b/d/x");
    renamer.join();
    store.lookup("/b/d/x");
    verify();
  }

  @Test
  void attributesLeaveTheTimeOfAWriteBesideThemAsItIs() throws Exception {
    Wire wire = Wire.connect(store.server, 5);
    long id =
        wire.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, "/b/x", 1))
            .node()
            .id();
    wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 1, 0, 100, -1));
    Thread writer =
        new Thread(
            () ->
                tried(
                    () ->
                        wire.call(
                            NameNodeOperations.SET_SIZE,
                            new SetSize.Request(id, 1, 100, SetSize.KEEP))));
    onChange =
        change -> {
          if (change instanceof Change.Attributes) {
            clock.advanceMillis(5);
            writer.start();
            // Until it is done, or waits for the lock of the node.
            while (writer.isAlive() && writer.getState() != Thread.State.BLOCKED) {
              Thread.onSpinWait();
            }
          }
        };
    store.call(
        NameNodeOperations.SET_ATTRIBUTES,
        new SetAttributes.Request(
            SetAttributes.PERMISSIONS, 0600, 0, 0, Utf8.of("/b/x"), Utf8.EMPTY, Utf8.EMPTY));
    writer.join();
    assertEquals(clock.currentTimeMillis(), store.lookup("/b/x").node().modifiedMillis());
    model.verify(store.namenode);
  }

  @Test
  void recordsOfManyThreadsComeInTheOrderOfTheirChanges() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Client client = new Client(10 + i);
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int round = 0; round < ROUNDS; round++) {
                    tried(client::round);
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    Random random = new Random(seed);
    Crowd crowd = new Crowd();
    while (threads.stream().anyMatch(Thread::isAlive)) {
      tried(crowd::round);
      store.passAlive(random.nextInt(1_000), datanodes);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures, "seed " + seed);
    verify();
  }

  /** More of them than a record has room for. */
  @Test
  void linksOfAnyNumberOfExtentsHaveRecords() throws CrailException {
    ChangeModel records = new ChangeModel();
    TestStore small = new TestStore(clock, records, "crail.blocksize", "4k");
    records.begin(small.namenode);
    small.datanode(3, "three", 0, true, 1L << 30);
    small.create(NodeType.TABLE, "/t", 0);
    final long length = (Change.MAX_EXTENTS + 100L) << 12;
    for (int i = 0; i < 2; i++) {
      Put.Request put = TestStore.put("/t/k", 9, length);
      long id = small.call(NameNodeOperations.STAGE, put).node().id();
      for (long at = 0; at < length; ) {
        List<Extent> extents = small.extend(id, 9, at, length - at);
        at = extents.get(extents.size() - 1).fileEnd();
      }
      List<CompoundStep> steps =
          List.of(Steps.of(StepKind.CREATE).going(), Steps.link(id, 9, length - 10, i > 0));
      Operate.Response response =
          small.call(NameNodeOperations.OPERATE, new Operate.Request(0644, Utf8.of("/t/k"), steps));
      assertEquals((i + 1) * (length - 10), response.size(), response.toString());
      records.verify(small.namenode);
      NameNode copy = small.copied().namenode;
      records.verify(copy);
      copy.verify();
    }
  }
}
