/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.namenode.ManualClock;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Rename;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which renames wait for others, and which lookups are valid beside them. */
class RenameSequenceTest {
  private static final long PATIENCE_SECONDS = 60;

  /** Holds a rename in the middle of its change, where it looks at the time. */
  private static final class Held extends ManualClock {
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile Thread held;

    @Override
    public long currentTimeMillis() {
      if (Thread.currentThread() == held) {
        arrived.countDown();
        await(goOn);
      }
      return super.currentTimeMillis();
    }
  }

  private final Held clock = new Held();
  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore(clock, 0, 1);
    for (String directory : new String[] {"/a", "/b", "/c", "/d", "/e"}) {
      store.mkdir(directory);
    }
    store.file("/a/f");
    store.file("/c/g");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "it waits for another one");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A rename in a thread of its own, and its end. */
  private static final class Renaming {
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Thread thread;

    Renaming(TestStore store, String source, String target) throws CrailException {
      Wire wire = Wire.connect(store.server, 5);
      Rename.Request request = new Rename.Request(false, Utf8.of(source), Utf8.of(target));
      thread =
          new Thread(
              () -> {
                try {
                  wire.call(NameNodeOperations.RENAME, request);
                  end.complete(null);
                } catch (CrailException | RuntimeException | Error e) {
                  end.completeExceptionally(e);
                }
              });
    }

    void awaitEnd() throws InterruptedException, ExecutionException, TimeoutException {
      end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    void awaitWaiting() {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      while (thread.getState() != Thread.State.WAITING) {
        assertTrue(System.nanoTime() - deadline < 0 && thread.isAlive(), "it does not wait");
        Thread.onSpinWait();
      }
    }
  }

  private Renaming started(String source, String target) throws CrailException {
    Renaming renaming = new Renaming(store, source, target);
    renaming.thread.start();
    return renaming;
  }

  private Renaming held(String source, String target) throws CrailException {
    Renaming renaming = new Renaming(store, source, target);
    clock.held = renaming.thread;
    renaming.thread.start();
    await(clock.arrived);
    return renaming;
  }

  @Test
  void aFileDoesNotWaitForAnotherOne() throws Exception {
    Renaming first = held("/a/f", "/b/f");
    started("/c/g", "/d/g").awaitEnd();
    clock.goOn.countDown();
    first.awaitEnd();
    store.lookup("/b/f");
    store.lookup("/d/g");
    store.namenode.verify();
  }

  @Test
  void aContainerWaitsForAFile() throws Exception {
    Renaming first = held("/a/f", "/b/f");
    Renaming second = started("/e", "/d/e");
    second.awaitWaiting();
    clock.goOn.countDown();
    first.awaitEnd();
    second.awaitEnd();
    store.lookup("/d/e");
  }

  @Test
  void aFileWaitsForAContainer() throws Exception {
    Renaming first = held("/e", "/d/e");
    Renaming second = started("/a/f", "/b/f");
    second.awaitWaiting();
    clock.goOn.countDown();
    first.awaitEnd();
    second.awaitEnd();
    store.lookup("/b/f");
  }

  /** Also when one of two has ended. */
  @Test
  void aLookupBesideARenameIsNotValid() throws Exception {
    RenameSequence renames = store.namenode.tree().renames();
    long before = renames.read();
    assertTrue(renames.isUnchanged(before));
    Renaming first = held("/a/f", "/b/f");
    long beside = renames.read();
    assertFalse(renames.isUnchanged(before));
    assertFalse(renames.isUnchanged(beside));
    started("/c/g", "/d/g").awaitEnd();
    assertFalse(renames.isUnchanged(renames.read()));
    clock.goOn.countDown();
    first.awaitEnd();
    assertFalse(renames.isUnchanged(before));
    assertFalse(renames.isUnchanged(beside));
    assertTrue(renames.isUnchanged(renames.read()));
  }
}
