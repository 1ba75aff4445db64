/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.ManualClock;
import io.crail.namenode.Refusals;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.part.NodeType;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests changes after a place was found and before it is locked. The test holds a container's lock
 * until another thread waits for it, changes the tree, and lets the other thread continue.
 */
class RevalidationTest {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    store.mkdir("/p");
    store.mkdir("/p/d");
    store.mkdir("/later");
    store.file("/later/f");
  }

  private interface Action {
    void run() throws CrailException;
  }

  private interface Request {
    void run(Wire wire) throws CrailException;
  }

  /** The outcome of {@code waiting} when {@code change} happens while it waits for the lock. */
  private ErrorCode outcome(String locked, Request waiting, Action change) throws Exception {
    Node container = store.namenode.tree().require(store.lookup(locked).node().id());
    Wire wire = Wire.connect(store.server, 5);
    AtomicReference<ErrorCode> outcome = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                waiting.run(wire);
                outcome.set(ErrorCode.OK);
              } catch (CrailException e) {
                outcome.set(e.code());
              }
            });
    synchronized (container) {
      thread.start();
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (thread.getState() != Thread.State.BLOCKED) {
        assertTrue(System.nanoTime() - deadline < 0 && thread.isAlive(), "does not wait");
        Thread.onSpinWait();
      }
      change.run();
    }
    thread.join(PATIENCE_NANOS / 1_000_000);
    assertTrue(!thread.isAlive(), "hangs");
    store.namenode.verify();
    return outcome.get();
  }

  private static Request create(String path) {
    return wire ->
        wire.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DATAFILE, path, 0));
  }

  private static Request rename(String source, String target) {
    return wire ->
        wire.call(
            NameNodeOperations.RENAME, new Rename.Request(false, Utf8.of(source), Utf8.of(target)));
  }

  @Test
  void aRemovedContainerGetsNoChild() throws Exception {
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND,
        outcome("/p/d", create("/p/d/new"), () -> store.remove("/p/d", false)));
  }

  @Test
  void aContainerBelowARemovedOneGetsNoChild() throws Exception {
    store.mkdir("/p/d/e");
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND,
        outcome("/p/d/e", create("/p/d/e/new"), () -> store.remove("/p", true)));
  }

  @Test
  void nothingIsRenamedIntoARemovedContainer() throws Exception {
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND,
        outcome("/p/d", rename("/later/f", "/p/d/f"), () -> store.remove("/p/d", false)));
    assertEquals("f", store.list(store.lookup("/later").node().id(), 9).get(0));
  }

  @Test
  void aRenamedSourceIsNotFoundAgain() throws Exception {
    store.file("/p/d/f");
    assertEquals(
        ErrorCode.NODE_NOT_FOUND,
        outcome("/p/d", rename("/p/d/f", "/later/g"), () -> store.rename("/p/d/f", "/p/d/x")));
    store.lookup("/p/d/x");
  }

  @Test
  void aTargetThatAppearsIsNotReplaced() throws Exception {
    assertEquals(
        ErrorCode.NODE_EXISTS,
        outcome("/p/d", rename("/later/f", "/p/d/f"), () -> store.file("/p/d/f")));
    assertEquals(
        ErrorCode.NODE_EXISTS, outcome("/p/d", create("/p/d/g"), () -> store.file("/p/d/g")));
  }

  private static Request renameOver(String source, String target) {
    return wire ->
        wire.call(
            NameNodeOperations.RENAME, new Rename.Request(true, Utf8.of(source), Utf8.of(target)));
  }

  @Test
  void aContainerThatFillsIsNotReplaced() throws Exception {
    store.mkdir("/e");
    assertEquals(
        ErrorCode.NOT_EMPTY, outcome("/p/d", renameOver("/e", "/p/d"), () -> store.file("/p/d/f")));
    store.lookup("/p/d/f");
    store.lookup("/e");
  }

  @Test
  void aContainerThatGetsAnotherNameIsNotReplaced() throws Exception {
    store.mkdir("/e");
    long kept = store.lookup("/p/d").node().id();
    // The root's lock is the first; whoever waits for it has no other.
    assertEquals(
        ErrorCode.OK,
        outcome("/", renameOver("/e", "/p/d"), () -> store.rename("/p/d", "/p/kept")));
    assertEquals(kept, store.lookup("/p/kept").node().id());
    assertEquals(0, store.list(kept, 9).size());
  }

  @Test
  void aFileThatTurnsIntoADirectoryIsNotReplaced() throws Exception {
    store.file("/p/d/f");
    assertEquals(
        ErrorCode.NODE_EXISTS,
        outcome(
            "/p/d",
            renameOver("/later/f", "/p/d/f"),
            () -> {
              store.remove("/p/d/f", false);
              store.mkdir("/p/d/f");
            }));
    store.lookup("/later/f");
  }

  @Test
  void bothNamesAreThereUntilTheMomentOfTheReplacement() throws Exception {
    final long old = store.file("/p/d/f").id();
    final long fresh = store.lookup("/later/f").node().id();
    Wire wire = Wire.connect(store.server, 5);
    AtomicReference<Exception> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                renameOver("/later/f", "/p/d/f").run(wire);
              } catch (CrailException e) {
                failure.set(e);
              }
            });
    RenameSequence renames = store.namenode.tree().renames();
    renames.lock();
    try {
      thread.start();
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (thread.getState() != Thread.State.WAITING) {
        assertTrue(System.nanoTime() - deadline < 0 && thread.isAlive(), "does not wait");
        Thread.onSpinWait();
      }
      assertEquals(old, store.lookup("/p/d/f").node().id());
      assertEquals(fresh, store.lookup("/later/f").node().id());
    } finally {
      renames.unlock();
    }
    thread.join(PATIENCE_NANOS / 1_000_000);
    assertNull(failure.get());
    assertEquals(fresh, store.lookup("/p/d/f").node().id());
    Refusals.refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/later/f"));
    store.namenode.verify();
  }

  @Test
  void aCreateInAReplacedContainerGoesIntoTheNewOne() throws Exception {
    long fresh = store.mkdir("/e").id();
    assertEquals(
        ErrorCode.OK, outcome("/p/d", create("/p/d/f"), () -> store.renameOver("/e", "/p/d")));
    assertEquals(fresh, store.lookup("/p/d").node().id());
    assertEquals(1, store.list(fresh, 9).size());
  }

  @Test
  void aReplacedNodeIsNotRemovedUnderItsOldName() throws Exception {
    long old = store.file("/p/d/f").id();
    long[] fresh = new long[1];
    Request remove =
        wire -> wire.call(NameNodeOperations.REMOVE, new Remove.Request(false, Utf8.of("/p/d/f")));
    ErrorCode outcome =
        outcome(
            "/p/d",
            remove,
            () -> {
              store.rename("/p/d/f", "/later/kept");
              fresh[0] = store.file("/p/d/f").id();
            });
    // It looked again, and found the new one.
    assertEquals(ErrorCode.OK, outcome);
    assertEquals(old, store.lookup("/later/kept").node().id());
    Refusals.refused(ErrorCode.STALE_NODE, () -> store.find(fresh[0], 0));
  }

  @Test
  void aContainerThatFillsIsNotRemoved() throws Exception {
    Request remove =
        wire -> wire.call(NameNodeOperations.REMOVE, new Remove.Request(false, Utf8.of("/p/d")));
    assertEquals(ErrorCode.NOT_EMPTY, outcome("/p/d", remove, () -> store.file("/p/d/f")));
    store.lookup("/p/d/f");
  }

  @Test
  void nothingIsCreatedWhereItsPathWouldBeTooLong() throws Exception {
    String parent = "/p/d";
    String moved = "/" + "l".repeat(250);
    for (String part : new String[] {"/e", "/f", "/g"}) {
      parent += part + part.substring(1).repeat(200);
      moved += part + part.substring(1).repeat(200);
      store.mkdir(parent);
    }
    String name = "/" + "n".repeat(200);
    assertEquals(
        ErrorCode.PARENT_NOT_FOUND,
        outcome(parent, create(parent + name), () -> store.rename("/p/d", "/" + "l".repeat(250))));
    assertEquals(0, store.list(store.lookup(moved).node().id(), 9).size());
  }

  @Test
  void aRenameSeesAPathThatGrewMeanwhile() throws Exception {
    String name = "l".repeat(250);
    assertEquals(
        ErrorCode.INVALID_PATH,
        outcome(
            "/later",
            rename("/p/d", "/later/" + name),
            () -> {
              String path = "/p/d";
              for (int i = 0; i < 4; i++) {
                path += "/" + "n".repeat(200);
                store.mkdir(path);
              }
            }));
    store.lookup("/p/d");
  }

  /**
   * A clock at whose reading a thread that moves a directory lets another thread run as far as it
   * can.
   */
  private static final class Meeting extends ManualClock {
    private volatile Thread first;
    private volatile Thread second;

    @Override
    public long currentTimeMillis() {
      if (Thread.currentThread() == first && second.getState() == Thread.State.NEW) {
        second.start();
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (second.getState() != Thread.State.WAITING
            && second.getState() != Thread.State.BLOCKED
            && second.getState() != Thread.State.TERMINATED
            && System.nanoTime() - deadline < 0) {
          Thread.onSpinWait();
        }
      }
      return super.currentTimeMillis();
    }
  }

  @Test
  void oneOfTwoMovesThatMakeACycleIsRefused() throws Exception {
    Meeting clock = new Meeting();
    store = new TestStore(clock, 0, 1);
    for (String path : new String[] {"/x", "/y", "/x/a", "/y/b"}) {
      store.mkdir(path);
    }
    AtomicReference<ErrorCode> first = new AtomicReference<>();
    AtomicReference<ErrorCode> second = new AtomicReference<>();
    // Their containers are different ones, so no lock of a container is common to both.
    clock.first = renamer("/x/a", "/y/b/a", first);
    clock.second = renamer("/y/b", "/x/a/b", second);
    clock.first.start();
    clock.first.join(PATIENCE_NANOS / 1_000_000);
    clock.second.join(PATIENCE_NANOS / 1_000_000);
    assertEquals(ErrorCode.OK, first.get());
    // It looked for its place before the first was done, or after that.
    assertTrue(
        second.get() == ErrorCode.CYCLE || second.get() == ErrorCode.PARENT_NOT_FOUND,
        () -> "second move: " + second.get());
    assertEquals("a", store.list(store.lookup("/y/b").node().id(), 9).get(0));
    store.namenode.verify();
  }

  private Thread renamer(String source, String target, AtomicReference<ErrorCode> outcome)
      throws CrailException {
    Wire wire = Wire.connect(store.server, 5);
    return new Thread(
        () -> {
          try {
            rename(source, target).run(wire);
            outcome.set(ErrorCode.OK);
          } catch (CrailException e) {
            outcome.set(e.code());
          }
        });
  }
}
