/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A completion ends once, and its one callback runs once. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class CompletionTest {
  private static final class Plain extends Completion {
    private final AtomicInteger hooks = new AtomicInteger();

    @Override
    protected void completed() {
      assertTrue(isComplete());
      hooks.incrementAndGet();
    }

    void again() {
      reset();
    }
  }

  @Test
  void endsOnce() {
    Plain plain = new Plain();
    assertFalse(plain.isComplete());
    assertTrue(plain.succeed());
    assertFalse(plain.fail(ErrorCode.INTERNAL, "late"));
    assertFalse(plain.succeed());
    assertTrue(plain.isComplete());
    assertFalse(plain.isFailed());
    assertNull(plain.failure());
    assertEquals(1, plain.hooks.get());
  }

  @Test
  void keepsItsFailureUntilItIsReset() {
    Plain plain = new Plain();
    assertTrue(plain.fail(ErrorCode.NO_SPACE, "/a"));
    assertTrue(plain.isFailed());
    assertEquals(ErrorCode.NO_SPACE, plain.failure().code());
    plain.again();
    assertFalse(plain.isComplete());
    assertNull(plain.failure());
    assertTrue(plain.succeed());
  }

  @Test
  void runsItsCallbacksInTheirOrder() {
    Plain plain = new Plain();
    StringBuilder runs = new StringBuilder();
    plain.whenComplete(() -> runs.append('a'));
    plain.whenComplete(() -> runs.append('b'));
    plain.whenComplete(() -> runs.append('c'));
    plain.succeed();
    assertEquals("abc", runs.toString());
    plain.whenComplete(() -> runs.append('d'));
    assertEquals("abcd", runs.toString(), "after the end it runs at once");
  }

  @Test
  void runsACallbackThatIsAThread() {
    Plain plain = new Plain();
    AtomicInteger runs = new AtomicInteger();
    plain.whenComplete(new Thread(runs::incrementAndGet));
    plain.succeed();
    assertEquals(1, runs.get());
  }

  @Test
  void wakesItsWaitersAndRunsItsCallbacks() throws Exception {
    for (int callbacks = 0; callbacks < 3; callbacks++) {
      Plain plain = new Plain();
      AtomicInteger runs = new AtomicInteger();
      CountDownLatch listed = new CountDownLatch(2);
      List<Thread> waiters = new ArrayList<>();
      if (callbacks == 1) {
        plain.whenComplete(runs::incrementAndGet);
      }
      for (int i = 0; i < 2; i++) {
        Thread waiter =
            new Thread(
                () -> {
                  plain.waiter(Thread.currentThread());
                  plain.waiter(Thread.currentThread());
                  listed.countDown();
                  while (!plain.isComplete()) {
                    LockSupport.park(plain);
                  }
                });
        waiter.start();
        waiters.add(waiter);
      }
      listed.await();
      if (callbacks == 2) {
        plain.whenComplete(runs::incrementAndGet);
        plain.whenComplete(runs::incrementAndGet);
      }
      plain.succeed();
      for (Thread waiter : waiters) {
        waiter.join();
      }
      assertEquals(callbacks, runs.get());
      plain.waiter(Thread.currentThread());
      assertTrue(plain.isComplete(), "whoever comes late need not wait");
    }
  }

  /** Who names itself while this ends is woken, or sees the end before it sleeps. */
  @Test
  void losesNoWaiterThatComesWithTheEnd() throws Exception {
    for (int round = 0; round < 1_000; round++) {
      Plain plain = new Plain();
      CyclicBarrier start = new CyclicBarrier(2);
      Thread waiter =
          new Thread(
              () -> {
                pass(start);
                plain.waiter(Thread.currentThread());
                while (!plain.isComplete()) {
                  LockSupport.park(plain);
                }
              });
      waiter.start();
      pass(start);
      plain.succeed();
      waiter.join();
    }
  }

  @Test
  void outlivesAFaultyCallback() {
    outlives(
        () -> {
          throw new IllegalStateException("as asked for");
        });
    outlives(
        () -> {
          throw new OutOfMemoryError("as asked for");
        });
  }

  private static void outlives(Runnable callback) {
    Plain plain = new Plain();
    plain.whenComplete(callback);
    AtomicInteger others = new AtomicInteger();
    plain.whenComplete(others::incrementAndGet);
    assertTrue(plain.succeed());
    assertTrue(plain.isComplete());
    assertEquals(1, others.get());
  }

  @Test
  void runsTheCallbackOnceWhenItComesWithTheEnd() throws Exception {
    for (int round = 0; round < 1_000; round++) {
      Plain plain = new Plain();
      AtomicInteger runs = new AtomicInteger();
      AtomicInteger wins = new AtomicInteger();
      CyclicBarrier start = new CyclicBarrier(2);
      Thread ender =
          new Thread(
              () -> {
                pass(start);
                wins.addAndGet(plain.succeed() ? 1 : 0);
              });
      ender.start();
      pass(start);
      plain.whenComplete(
          () -> {
            assertTrue(plain.isComplete());
            runs.incrementAndGet();
          });
      wins.addAndGet(plain.fail(ErrorCode.CLOSED, "") ? 1 : 0);
      ender.join();
      assertEquals(1, runs.get());
      assertEquals(1, wins.get());
      assertEquals(1, plain.hooks.get());
    }
  }

  /** The owner sees the end and starts the next use while the ender is still in the last one. */
  @Test
  void doesNotRunTheNextUsesCallbackForTheLastUse() throws Exception {
    Reusable completion = new Reusable();
    AtomicInteger uses = new AtomicInteger();
    AtomicInteger ends = new AtomicInteger();
    AtomicInteger early = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    Thread ender =
        new Thread(
            () -> {
              for (int i = 0; ; i++) {
                while (uses.get() != i + 1) {
                  if (over.get()) {
                    return;
                  }
                  Thread.yield();
                }
                ends.incrementAndGet();
                completion.succeed();
              }
            });
    ender.start();
    // A yield costs milliseconds where others want the same processor.
    long began = System.nanoTime();
    for (int i = 0; i < 20_000 && System.nanoTime() - began < 5_000_000_000L; i++) {
      int round = i;
      completion.again();
      completion.whenComplete(
          () -> {
            runs.incrementAndGet();
            early.addAndGet(ends.get() <= round ? 1 : 0);
          });
      uses.incrementAndGet();
      while (!completion.isComplete()) {
        Thread.yield();
      }
    }
    over.set(true);
    ender.join();
    assertEquals(0, early.get());
    assertEquals(uses.get(), runs.get());
  }

  private static final class Reusable extends Completion {
    void again() {
      reset();
    }
  }

  private static void pass(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
