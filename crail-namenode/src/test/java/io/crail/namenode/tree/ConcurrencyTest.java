/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.ManualClock;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests many threads on one namenode: what must hold at every moment, and at the end. */
@Tag("once")
class ConcurrencyTest {
  /** How long each test lets its threads run, or longer until each has done this many rounds. */
  private static final long RUN_NANOS = 1_200_000_000L;

  private static final int LEAST_ROUNDS = 20;
  private static final long MOST_NANOS = 120_000_000_000L;

  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private TestStore store;
  private long seed;

  /** The repeated work of a thread, with its own connection and random numbers. */
  private interface Worker {
    void round(Wire wire, Random random) throws CrailException;
  }

  @BeforeEach
  void start() throws Exception {
    seed = TestStore.seed();
    store = new TestStore();
    store.datanode(256L << 20);
  }

  private void run(Worker... workers) throws Exception {
    long began = System.nanoTime();
    AtomicInteger behind = new AtomicInteger(workers.length);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers.length; i++) {
      Worker worker = workers[i];
      Random random = new Random(seed + i);
      Wire wire = Wire.connect(store.server, 100 + i);
      Thread thread =
          new Thread(
              () -> {
                try {
                  long passed = 0;
                  for (int round = 1;
                      (passed < RUN_NANOS || behind.get() > 0 && passed < MOST_NANOS)
                          && failure.get() == null;
                      round++) {
                    worker.round(wire, random);
                    if (round == LEAST_ROUNDS) {
                      behind.decrementAndGet();
                    }
                    passed = System.nanoTime() - began;
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join(2 * MOST_NANOS / 1_000_000);
      assertTrue(!thread.isAlive(), "a thread hangs");
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + seed, failure.get());
    }
    assertEquals(0, behind.get(), "threads that got nothing done beside the others");
  }

  /** Does something that may be refused for what others do; gives the refusal or null. */
  private static ErrorCode tried(ConcurrencyAction action) {
    try {
      action.run();
      return null;
    } catch (CrailException e) {
      assertTrue(e.code() != ErrorCode.INTERNAL && e.code() != ErrorCode.PROTOCOL, e.toString());
      return e.code();
    }
  }

  private interface ConcurrencyAction {
    void run() throws CrailException;
  }

  private static void rename(Wire wire, String source, String target) throws CrailException {
    wire.call(
        NameNodeOperations.RENAME, new Rename.Request(false, Utf8.of(source), Utf8.of(target)));
  }

  private static void renameOver(Wire wire, String source, String target) throws CrailException {
    wire.call(
        NameNodeOperations.RENAME, new Rename.Request(true, Utf8.of(source), Utf8.of(target)));
  }

  private static NodeInfo replace(Wire wire, String path) throws CrailException {
    return wire.call(NameNodeOperations.CREATE, TestStore.replacement(NodeType.DATAFILE, path, 9))
        .node();
  }

  private static NodeInfo create(Wire wire, NodeType type, String path) throws CrailException {
    return wire.call(NameNodeOperations.CREATE, TestStore.creation(type, path, 9)).node();
  }

  private static void remove(Wire wire, String path, boolean recursive) throws CrailException {
    wire.call(NameNodeOperations.REMOVE, new Remove.Request(recursive, Utf8.of(path)));
  }

  /** How many of the paths are found in one batch. */
  private static int found(Wire wire, String... paths) throws CrailException {
    List<Lookup.Request> requests = new ArrayList<>();
    for (String path : paths) {
      requests.add(new Lookup.Request(Utf8.of(path)));
    }
    int found = 0;
    for (Object answer : wire.callAll(NameNodeOperations.LOOKUP, requests)) {
      if (answer instanceof Lookup.Response) {
        found++;
      } else {
        assertEquals(ErrorCode.NODE_NOT_FOUND, ((CrailException) answer).code());
      }
    }
    return found;
  }

  @Test
  void readersSeeARenamedNodeUnderExactlyOneName() throws Exception {
    store.mkdir("/a");
    store.mkdir("/b");
    store.mkdir("/c");
    store.file("/a/one-name-inline");
    store.mkdir("/a/dir");
    store.file("/a/dir/below");
    String longName = "/b/another-name-that-is-too-long-to-be-inline";
    run(
        (wire, random) -> {
          rename(wire, "/a/one-name-inline", longName);
          rename(wire, longName, "/a/one-name-inline");
        },
        (wire, random) -> {
          rename(wire, "/a/dir", "/c/dir");
          rename(wire, "/c/dir", "/a/dir");
        },
        (wire, random) -> assertEquals(1, found(wire, "/a/one-name-inline", longName)),
        (wire, random) -> assertEquals(1, found(wire, "/a/dir/below", "/c/dir/below")));
    assertEquals(1, found(store.wire, "/a/one-name-inline"));
  }

  @Test
  void readersSeeEachOfManyRenamedFilesUnderExactlyOneName() throws Exception {
    for (String directory : new String[] {"/a", "/b", "/c", "/d"}) {
      store.mkdir(directory);
    }
    String[][] pairs = {{"/a/f", "/b/f"}, {"/c/g", "/d/a-name-that-is-too-long-to-be-inline"}};
    List<Worker> workers = new ArrayList<>();
    for (String[] pair : pairs) {
      store.file(pair[0]);
      workers.add(
          (wire, random) -> {
            rename(wire, pair[0], pair[1]);
            rename(wire, pair[1], pair[0]);
          });
      workers.add((wire, random) -> assertEquals(1, found(wire, pair)));
    }
    run(workers.toArray(Worker[]::new));
    store.namenode.verify();
  }

  @Test
  void aReaderIsNotStarvedByRenames() throws Exception {
    store.file("/stable");
    store.file("/x");
    Worker renamer =
        (wire, random) -> {
          String name = "/x-" + random.nextInt();
          if (tried(() -> rename(wire, "/x", name)) == null) {
            rename(wire, name, "/x");
          }
        };
    run(renamer, renamer, renamer, (wire, random) -> assertEquals(1, found(wire, "/stable")));
  }

  @Test
  void stableNodesAreFoundWhileTablesGrowAndShrink() throws Exception {
    store.mkdir("/s");
    String[] stable = new String[200];
    for (int i = 0; i < stable.length; i++) {
      stable[i] = "/s/stable-" + i;
      store.file(stable[i]);
    }
    Worker churn =
        (wire, random) -> {
          String prefix = "/churn-" + random.nextInt();
          if (tried(() -> create(wire, NodeType.DIRECTORY, prefix)) != null) {
            return;
          }
          for (int i = 0; i < 2000; i++) {
            create(wire, NodeType.DATAFILE, prefix + "/" + i);
          }
          if (random.nextBoolean()) {
            for (int i = 0; i < 2000; i++) {
              remove(wire, prefix + "/" + i, false);
            }
          }
          remove(wire, prefix, true);
        };
    run(churn, churn, (wire, random) -> assertEquals(200, found(wire, stable)));
    settle();
    assertEquals(202, store.namenode.tree().ids().size());
    assertEquals(201, store.namenode.tree().names().size());
  }

  @Test
  void theLastPutWinsWithoutAGap() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    for (int i = 0; i < 4; i++) {
      store.create(NodeType.KEYVALUE, "/t/" + i, 0);
    }
    Worker put =
        (wire, random) -> {
          long id = create(wire, NodeType.KEYVALUE, "/t/" + random.nextInt(4)).id();
          // The value may be replaced at any moment.
          tried(() -> wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 5000, -1)));
          tried(
              () ->
                  wire.call(
                      NameNodeOperations.SET_SIZE, new SetSize.Request(id, 9, 5000, SetSize.END)));
        };
    long table = store.lookup("/t").node().id();
    run(
        put,
        put,
        (wire, random) -> assertEquals(4, found(wire, "/t/0", "/t/1", "/t/2", "/t/3")),
        (wire, random) ->
            assertEquals(
                4,
                wire.call(NameNodeOperations.LIST_NODES, new ListNodes.Request(table, 0, 100))
                    .entries()
                    .size()));
    assertEquals(List.of("0", "1", "2", "3"), store.list(table, 2));
    assertEquals(6, store.namenode.tree().ids().size());
    store.namenode.verify();
  }

  @Test
  void aValueThatIsPutAnewIsNeverMissing() throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    String[] keys = {"/t/a", "/t/b", "/t/a-name-that-is-too-long-to-be-inline"};
    for (String key : keys) {
      end(store.wire, store.wire.call(NameNodeOperations.PUT, put(key, 5000)).node().id(), 5000);
    }
    Worker put =
        (wire, random) -> {
          String key = keys[random.nextInt(keys.length)];
          long id = wire.call(NameNodeOperations.PUT, put(key, 5000)).node().id();
          // A writer that gives up leaves what was there.
          tried(() -> end(wire, id, random.nextInt(3) * 2500));
        };
    Worker mover =
        (wire, random) -> {
          String key = keys[random.nextInt(keys.length)];
          String other = "/t/other-" + random.nextInt();
          long id = wire.call(NameNodeOperations.PUT, put(other, 5000)).node().id();
          end(wire, id, 5000);
          wire.call(NameNodeOperations.PUT, put(other, 5000));
          renameOver(wire, other, key);
          // The last put has kept the name.
          remove(wire, other, false);
        };
    Worker reader =
        (wire, random) -> {
          Lookup.Request request = new Lookup.Request(Utf8.of(keys[random.nextInt(3)]));
          assertEquals(5000, wire.call(NameNodeOperations.LOOKUP, request).node().size());
        };
    run(put, put, mover, reader);
    store.namenode.verify();
    for (String key : keys) {
      remove(store.wire, key, false);
    }
    assertEquals(2, store.namenode.tree().ids().size());
    store.passAlive(20_000, store.namenode.datanodes().list(-1, 1, TestStore.caller("")).get(0));
    store.namenode.verify();
    assertEquals(256L << 20, store.usage(0).freeBytes());
  }

  private static void end(Wire wire, long id, long size) throws CrailException {
    wire.call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, 9, size, SetSize.END));
  }

  @Test
  void overwritersOfTheSameFilesLeaveNoGap() throws Exception {
    store.mkdir("/d");
    String longName = "/d/a-name-that-is-too-long-to-be-inline";
    String[] files = {"/d/a", "/d/b", longName, "/c"};
    for (String file : files) {
      store.file(file);
    }
    Worker overwriter =
        (wire, random) -> {
          String file = files[random.nextInt(files.length)];
          long id;
          if (random.nextBoolean()) {
            id = replace(wire, file).id();
          } else {
            String source = (random.nextBoolean() ? "/d/new-" : "/new-") + random.nextInt();
            id = create(wire, NodeType.DATAFILE, source).id();
            tried(() -> wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 1, -1)));
            renameOver(wire, source, file);
          }
          tried(() -> wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 5000, -1)));
          tried(
              () ->
                  wire.call(
                      NameNodeOperations.SET_SIZE, new SetSize.Request(id, 9, 5000, SetSize.END)));
        };
    long directory = store.lookup("/d").node().id();
    run(
        overwriter,
        overwriter,
        (wire, random) -> assertEquals(4, found(wire, files)),
        (wire, random) -> {
          List<ListNodes.Entry> listed =
              wire.call(NameNodeOperations.LIST_NODES, new ListNodes.Request(directory, 0, 100))
                  .entries();
          assertEquals(
              3,
              listed.stream().filter(each -> !each.name().toString().startsWith("new-")).count());
        });
    assertEquals(3, store.list(directory, 2).size());
    assertEquals(6, store.namenode.tree().ids().size());
    store.namenode.verify();
    for (String file : files) {
      remove(store.wire, file, false);
    }
    store.passAlive(20_000, store.namenode.datanodes().list(-1, 1, TestStore.caller("")).get(0));
    store.namenode.verify();
    assertEquals(256L << 20, store.usage(0).freeBytes());
  }

  @Test
  void aDirectoryThatIsReplacedIsEmptyAndNeverMissing() throws Exception {
    store.mkdir("/d");
    store.mkdir("/d/target");
    Worker replacer =
        (wire, random) -> {
          String source = "/new-" + random.nextInt();
          create(wire, NodeType.DIRECTORY, source);
          if (tried(() -> renameOver(wire, source, "/d/target")) != null) {
            remove(wire, source, false);
          }
        };
    Worker filler =
        (wire, random) -> {
          String path = "/d/target/" + random.nextInt();
          create(wire, NodeType.DATAFILE, path);
          // Whoever has it now, it is not empty.
          assertEquals(1, found(wire, path));
          remove(wire, path, false);
        };
    run(replacer, replacer, filler, (wire, random) -> assertEquals(1, found(wire, "/d/target")));
    settle();
    assertEquals(3, store.namenode.tree().ids().size());
    store.namenode.verify();
  }

  @Test
  void spaceOfARemovedSubtreeIsFreeAtOnce() throws Exception {
    int files = 1024;
    store = new TestStore();
    int datanode = store.datanode(files * 4096L);
    Worker refill =
        (wire, random) -> {
          store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller(""));
          create(wire, NodeType.DIRECTORY, "/d");
          for (int i = 0; i < files; i++) {
            long id = create(wire, NodeType.DATAFILE, "/d/" + i).id();
            wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 1, -1));
            wire.call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, 9, 1, SetSize.END));
          }
          remove(wire, "/d", true);
        };
    run(refill, (wire, random) -> store.namenode.tick());
    settle();
    store.namenode.verify();
    assertEquals(files * 4096L, store.usage(0).freeBytes());
  }

  /** A clock that two threads read in turns, unless one has to wait for the other's lock. */
  private static final class Lockstep extends ManualClock {
    /** How often the other's looks are asked for before anybody else gets the processor. */
    private static final int SPINS = 10_000;

    /** So often is a thread seen to be blocked before it is taken to wait for the other one. */
    private static final int SURELY_BLOCKED = 100;

    private final AtomicIntegerArray looks = new AtomicIntegerArray(2);
    private volatile Thread[] pair = new Thread[0];

    /** From now on these two. */
    void pace(Thread[] two) {
      looks.set(0, 0);
      looks.set(1, 0);
      pair = two;
    }

    @Override
    public long nanoTime() {
      Thread[] both = pair;
      for (int i = 0; i < both.length; i++) {
        if (both[i] == Thread.currentThread()) {
          awaitLook(looks.incrementAndGet(i), both[1 - i], 1 - i);
        }
      }
      return super.nanoTime();
    }

    private void awaitLook(int number, Thread other, int index) {
      int blocked = 0;
      for (int i = 0; looks.get(index) < number && other.isAlive(); i++) {
        if (i < SPINS) {
          // So short that both go on at the same moment.
          Thread.onSpinWait();
        } else if (blocked < SURELY_BLOCKED) {
          // By a monitor or by another lock.
          Thread.State state = other.getState();
          boolean waits = state == Thread.State.BLOCKED || state == Thread.State.WAITING;
          blocked = waits ? blocked + 1 : 0;
          Thread.yield();
        } else {
          return;
        }
      }
    }
  }

  @Test
  void oneOfTwoThatTakeAllSpaceAtOnceGetsIt() throws Exception {
    Lockstep clock = new Lockstep();
    store = new TestStore(clock, 0, 1);
    store.datanode(8L * TestStore.BLOCK);
    // In a table each, so that they share no lock of a container.
    store.create(NodeType.TABLE, "/t0", 0);
    store.create(NodeType.TABLE, "/t1", 0);
    Wire[] wires = {Wire.connect(store.server, 100), Wire.connect(store.server, 101)};
    // Often, for the moment between two failures is short.
    for (int round = 0; round < 300; round++) {
      CountDownLatch begin = new CountDownLatch(1);
      Thread[] both = {putter(begin, wires[0], "/t0/k"), putter(begin, wires[1], "/t1/k")};
      clock.pace(both);
      begin.countDown();
      for (Thread each : both) {
        each.join(MOST_NANOS / 1_000_000);
        assertTrue(!each.isAlive(), "a thread hangs");
      }
      assertNull(failure.get());
      assertEquals(5L * TestStore.BLOCK, store.usage(0).usedBytes(), "round " + round);
      String there = found(store.wire, "/t0/k") == 1 ? "/t0/k" : "/t1/k";
      store.setSize(store.lookup(there).node().id(), 9, 0, SetSize.END);
      store.remove(there, false);
      store.namenode.verify();
    }
  }

  /** A thread that puts a value of five blocks once it may begin. */
  private Thread putter(CountDownLatch begin, Wire wire, String path) {
    Thread thread =
        new Thread(
            () -> {
              try {
                begin.await();
                tried(() -> wire.call(NameNodeOperations.PUT, put(path, 5L * TestStore.BLOCK)));
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            });
    thread.start();
    return thread;
  }

  /** The put of a value for which all space is to be there. */
  private static Put.Request put(String path, long wanted) {
    return TestStore.put(path, 9, wanted);
  }

  @Test
  void randomOperationsLoseNoNodeAndMakeNoCycle() throws Exception {
    for (int i = 0; i < 6; i++) {
      store.mkdir("/d" + i);
    }
    Worker mixed =
        (wire, random) -> {
          String source = randomPath(random);
          String target = randomPath(random);
          switch (random.nextInt(10)) {
            case 0:
            case 1:
              tried(() -> create(wire, NodeType.DIRECTORY, source));
              break;
            case 2:
              tried(
                  () -> {
                    long id = create(wire, NodeType.DATAFILE, source).id();
                    wire.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 10_000, -1));
                    wire.call(
                        NameNodeOperations.SET_SIZE,
                        new SetSize.Request(id, 9, 10_000, SetSize.END));
                  });
              break;
            case 3:
              tried(() -> remove(wire, source, random.nextInt(4) == 0));
              break;
            case 4:
              found(wire, source, target, "/d1", "/d2/d3", "/");
              break;
            case 5:
              tried(() -> replace(wire, source));
              break;
            case 6:
            case 7:
              tried(() -> renameOver(wire, source, target));
              break;
            default:
              tried(() -> rename(wire, source, target));
          }
        };
    Worker ticker =
        (wire, random) -> {
          store.namenode.tick();
          Thread.onSpinWait();
        };
    run(mixed, mixed, mixed, ticker);
    settle();
    Set<Long> seen = new HashSet<>();
    walk("", store.lookup("/").node(), seen);
    assertEquals(store.namenode.tree().ids().size(), seen.size(), "nodes reached from the root");
    assertEquals(store.namenode.tree().names().size() + 1, seen.size());
    store.namenode.verify();
    for (String name : store.list(store.lookup("/").node().id(), 100)) {
      store.remove("/" + name, true);
    }
    store.passAlive(20_000, store.namenode.datanodes().list(-1, 1, TestStore.caller("")).get(0));
    store.namenode.verify();
    assertEquals(256L << 20, store.usage(0).freeBytes());
    assertEquals(1, store.namenode.tree().ids().size());
  }

  /** Lets removed subtrees be taken apart. */
  private void settle() {
    for (long before = -1; before != store.namenode.tree().size(); ) {
      before = store.namenode.tree().size();
      store.namenode.tick();
    }
  }

  private void walk(String path, NodeInfo info, Set<Long> seen) throws CrailException {
    assertTrue(seen.add(info.id()), "reached twice: " + path);
    assertEquals(info.id(), store.lookup(path.isEmpty() ? "/" : path).node().id());
    if (info.type().isContainer()) {
      List<String> names = store.list(info.id(), 100);
      assertEquals(info.childCount(), names.size());
      for (String name : names) {
        walk(path + "/" + name, store.lookup(path + "/" + name).node(), seen);
      }
    }
  }

  private static String randomPath(Random random) {
    StringBuilder path = new StringBuilder();
    for (int depth = random.nextInt(3); depth >= 0; depth--) {
      path.append("/d").append(random.nextInt(6));
    }
    return path.toString();
  }
}
