/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests which thread drives the loop, and that no wake-up is lost. The network of this test sleeps
 * until an event comes or it is woken up, no matter how long the loop allows. So a lost wake-up
 * shows as a sleep that only the alarm ends.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class DrivenLoopTest {
  private static final long LONG = 120_000_000_000L;

  /** So long that a busy machine alone does not let it pass. */
  private static final long ALARM_NANOS = 60_000_000_000L;

  /** Long enough for the helper to find again and again that callers drive. */
  private static final long BUSY_NANOS = 300_000_000L;

  private final List<DrivenLoop> loops = new ArrayList<>();

  @AfterEach
  void close() {
    loops.forEach(DrivenLoop::close);
  }

  private final class TestLoop extends DrivenLoop {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Op> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicInteger alarms = new AtomicInteger();
    private final AtomicInteger sleepers = new AtomicInteger();
    private final AtomicReference<Thread> inLoop = new AtomicReference<>();
    private volatile Runnable beforeSleep = () -> {};
    private boolean asleep;
    private boolean woken;
    private boolean destroyed;

    TestLoop(boolean callersDrive, boolean withHelper) {
      super("test", Clock.SYSTEM, callersDrive, false, withHelper);
      loops.add(this);
      start();
    }

    /** An answer comes from the network. */
    void arrive(Op op) {
      lock.lock();
      try {
        arrived.add(op);
        changed.signal();
      } finally {
        lock.unlock();
      }
    }

    @Override
    protected void poll(long waitNanos) {
      enter();
      if (waitNanos >= 0) {
        beforeSleep.run();
      }
      lock.lock();
      try {
        long left = ALARM_NANOS;
        asleep = true;
        while (waitNanos >= 0 && arrived.isEmpty() && !woken && mayWait()) {
          sleepers.incrementAndGet();
          left = changed.awaitNanos(left);
          sleepers.decrementAndGet();
          if (left <= 0) {
            alarms.incrementAndGet();
            return;
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        asleep = false;
        woken = false;
        lock.unlock();
        leave();
      }
      for (Op op = arrived.poll(); op != null; op = arrived.poll()) {
        op.end();
      }
    }

    void enter() {
      if (!inLoop.compareAndSet(null, Thread.currentThread())) {
        throw new AssertionError("two threads in one loop");
      }
    }

    void leave() {
      inLoop.set(null);
    }

    @Override
    protected void wakeup() {
      lock.lock();
      try {
        // As with epoll, a wake-up that comes before the sleep is lost.
        woken = asleep;
        changed.signal();
      } finally {
        lock.unlock();
      }
    }

    @Override
    protected void destroy() {
      destroyed = true;
    }
  }

  private static final class Op extends Completion implements LoopTask {
    private final TestLoop loop;
    private final Queue<Op> wire;
    private volatile Thread sentBy;

    Op(TestLoop loop) {
      this(loop, new ConcurrentLinkedQueue<>());
    }

    /** An operation that goes to {@code wire} when it is sent. */
    Op(TestLoop loop, Queue<Op> wire) {
      this.loop = loop;
      this.wire = wire;
    }

    Op submit() {
      loop.operationBegun();
      loop.submit(this);
      return this;
    }

    @Override
    public void runInLoop() {
      loop.enter();
      sentBy = Thread.currentThread();
      assertTrue(loop.isDriver());
      wire.add(this);
      loop.leave();
    }

    @Override
    public void rejected() {
      loop.operationEnded();
      fail(ErrorCode.CLOSED, "loop");
    }

    void end() {
      loop.operationEnded();
      succeed();
    }
  }

  @Test
  void runsATaskInTheCallerWhenTheLoopIsFree() {
    TestLoop loop = new TestLoop(true, true);
    Op op = new Op(loop).submit();
    assertSame(Thread.currentThread(), op.sentBy);
    assertFalse(loop.isDriver());
    op.end();
  }

  @Test
  void neverRunsATaskInTheCallerWhenCallersMayNotDrive() throws Exception {
    TestLoop loop = new TestLoop(false, true);
    Op op = new Op(loop).submit();
    until(() -> op.sentBy != null);
    loop.arrive(op);
    assertTrue(loop.await(op, System.nanoTime() + LONG));
    assertFalse(op.sentBy == Thread.currentThread());
    assertEquals(0, loop.alarms.get());
  }

  @Test
  void wakesTheDriverForATaskOfAnother() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      Op waited = new Op(loop).submit();
      Thread driver = new Thread(() -> await(loop, waited));
      driver.start();
      until(() -> loop.sleepers.get() == 1);
      CountDownLatch ran = new CountDownLatch(1);
      loop.submit(ran::countDown);
      assertTrue(ran.await(45, TimeUnit.SECONDS), "the driver sleeps on");
      loop.arrive(waited);
      driver.join();
      assertEquals(0, loop.alarms.get());
    }
  }

  @Test
  void seesATaskThatComesJustBeforeTheSleep() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      CountDownLatch ran = new CountDownLatch(1);
      AtomicInteger once = new AtomicInteger();
      loop.beforeSleep =
          () -> {
            if (once.getAndIncrement() == 0) {
              inAnotherThread(() -> loop.submit(ran::countDown));
            }
          };
      Op waited = new Op(loop).submit();
      Thread driver = new Thread(() -> await(loop, waited));
      driver.start();
      assertTrue(ran.await(45, TimeUnit.SECONDS), "the driver sleeps");
      loop.arrive(waited);
      driver.join();
      assertEquals(0, loop.alarms.get());
    }
  }

  @Test
  void seesAWaiterThatComesJustBeforeTheHelpersSleep() throws Exception {
    TestLoop loop = new TestLoop(true, true);
    AtomicReference<Thread> waiter = new AtomicReference<>();
    Op waited = new Op(loop);
    AtomicInteger once = new AtomicInteger();
    loop.beforeSleep =
        () -> {
          if (once.getAndIncrement() == 0) {
            Thread thread = new Thread(() -> await(loop, waited));
            waiter.set(thread);
            thread.start();
            until(() -> thread.getState() == Thread.State.TIMED_WAITING);
          }
        };
    waited.submit();
    until(() -> waiter.get() != null && loop.isDriver(waiter.get()));
    loop.arrive(waited);
    waiter.get().join();
    assertEquals(0, loop.alarms.get());
  }

  /** An operation that no thread waits for would otherwise never end. */
  @Test
  void theHelperOutlivesAnError() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      AtomicInteger errors = new AtomicInteger();
      loop.beforeSleep =
          () -> {
            if (errors.getAndIncrement() == 0) {
              loop.leave();
              throw new OutOfMemoryError("as asked for");
            }
          };
      CountDownLatch ended = new CountDownLatch(1);
      Op op = new Op(loop);
      op.whenComplete(ended::countDown);
      op.submit();
      until(() -> errors.get() > 1);
      loop.arrive(op);
      assertTrue(ended.await(45, TimeUnit.SECONDS), "the helper has ended");
    }
  }

  /** The deadlines are part of the rounds that fail, so nothing else would end the operation. */
  @Test
  void theOperationsFailWhenAllRoundsFail() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      AtomicReference<Thread> helper = new AtomicReference<>();
      CountDownLatch ended = new CountDownLatch(1);
      Op op = new Op(loop);
      op.whenComplete(ended::countDown);
      loop.submit(
          () ->
              loop.register(
                  new Sweepable() {
                    @Override
                    public void sweep(long nowNanos) {}

                    @Override
                    public void loopClosing() {
                      op.rejected();
                    }
                  }));
      loop.beforeSleep =
          () -> {
            helper.set(Thread.currentThread());
            loop.leave();
            throw new OutOfMemoryError("as asked for");
          };
      op.submit();
      assertTrue(ended.await(45, TimeUnit.SECONDS), "the operation does not end");
      helper.get().join(45_000);
      assertFalse(helper.get().isAlive());
      assertTrue(loop.isClosed());
      CountDownLatch refused = new CountDownLatch(1);
      Op later = new Op(loop);
      later.whenComplete(refused::countDown);
      later.submit();
      assertTrue(refused.await(45, TimeUnit.SECONDS), "a later operation does not end");
    }
  }

  @Test
  void runsWhatWasQueuedWhileTheLoopWasTaken() throws Exception {
    TestLoop loop = new TestLoop(true, false);
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch hold = new CountDownLatch(1);
    Thread holder =
        new Thread(
            () ->
                loop.submit(
                    () -> {
                      taken.countDown();
                      try {
                        hold.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
    holder.start();
    taken.await();
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int number = i;
      loop.submit(() -> order.add(number));
    }
    assertEquals(List.of(), order);
    assertEquals(0, loop.outstanding());
    assertEquals(5, loop.outstandingOrQueued());
    hold.countDown();
    holder.join();
    assertEquals(List.of(0, 1, 2, 3, 4), order);
    assertEquals(0, loop.outstandingOrQueued());
  }

  /** Else others would begin more than they may while the driver gets no processor. */
  @Test
  void countsATaskWhichWasTakenAndHasNotBegun() throws Exception {
    TestLoop loop = new TestLoop(true, false);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch queued = new CountDownLatch(1);
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch looked = new CountDownLatch(1);
    Thread driver =
        new Thread(
            () ->
                loop.submit(
                    () -> {
                      held.countDown();
                      awaitOrFail(queued);
                    }));
    driver.start();
    awaitOrFail(held);
    for (int i = 0; i < 3; i++) {
      loop.submit(
          () -> {
            taken.countDown();
            awaitOrFail(looked);
          });
    }
    assertEquals(3, loop.outstandingOrQueued());
    queued.countDown();
    awaitOrFail(taken);
    assertEquals(3, loop.outstandingOrQueued());
    looked.countDown();
    driver.join();
    assertEquals(0, loop.outstandingOrQueued());
  }

  private static void awaitOrFail(CountDownLatch latch) {
    try {
      assertTrue(latch.await(60, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void wakesAllThreadsThatWaitForOneEnd() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      Op op = new Op(loop).submit();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(() -> await(loop, op));
        thread.start();
        threads.add(thread);
      }
      until(() -> loop.sleepers.get() == 1);
      loop.arrive(op);
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(0, loop.alarms.get());
    }
  }

  private static void inAnotherThread(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void helperServesCallsWithoutAWaiter() {
    TestLoop loop = new TestLoop(true, true);
    Op op = new Op(loop).submit();
    loop.arrive(op);
    until(op::isComplete);
    assertEquals(0, loop.outstanding());
  }

  /** While callers drive it looks more rarely, but it looks. */
  @Test
  void helperServesWhatIsLeftBehindByBusyCallers() {
    TestLoop loop = new TestLoop(true, true);
    for (int round = 0; round < 2; round++) {
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < BUSY_NANOS) {
        Op op = new Op(loop).submit();
        loop.arrive(op);
        await(loop, op);
      }
      Op left = new Op(loop).submit();
      loop.arrive(left);
      until(left::isComplete);
    }
    assertEquals(0, loop.alarms.get());
  }

  @Test
  void helperGivesTheLoopToAWaitingThread() throws Exception {
    TestLoop loop = new TestLoop(true, true);
    Op unwaited = new Op(loop).submit();
    until(() -> loop.sleepers.get() == 1);
    Op op = new Op(loop).submit();
    AtomicReference<Thread> ender = new AtomicReference<>();
    op.whenComplete(() -> ender.set(Thread.currentThread()));
    Thread waiter = new Thread(() -> await(loop, op));
    waiter.start();
    until(() -> loop.isDriver(waiter));
    loop.arrive(op);
    waiter.join();
    assertSame(waiter, ender.get());
    loop.arrive(unwaited);
    until(unwaited::isComplete);
    assertEquals(0, loop.alarms.get());
  }

  @Test
  void handsTheLoopToTheNextWaiter() throws Exception {
    TestLoop loop = new TestLoop(true, false);
    Op first = new Op(loop).submit();
    Op second = new Op(loop).submit();
    Thread one = new Thread(() -> await(loop, first));
    one.start();
    until(() -> loop.isDriver(one) && loop.sleepers.get() == 1);
    Thread two = new Thread(() -> await(loop, second));
    two.start();
    until(() -> two.getState() == Thread.State.TIMED_WAITING);
    loop.arrive(first);
    one.join();
    until(() -> loop.isDriver(two));
    loop.arrive(second);
    two.join();
    assertEquals(0, loop.alarms.get());
  }

  @Test
  void losesNoWakeUp() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      Queue<Op> onTheWire = new ConcurrentLinkedQueue<>();
      int threadCount = 6;
      long began = System.nanoTime();
      CountDownLatch done = new CountDownLatch(threadCount);
      Thread network = new Thread(() -> answer(loop, onTheWire, done, new Random(seed)));
      network.start();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < threadCount; t++) {
        Random random = new Random(seed + t);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    work(loop, onTheWire, random, began);
                  } catch (Throwable e) {
                    failure.set(e);
                  } finally {
                    done.countDown();
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      network.join();
      until(() -> loop.outstanding() == 0);
      assertEquals(null, failure.get());
      assertEquals(0, loop.alarms.get(), "sleeps that only the alarm ended");
    }
  }

  private static void work(TestLoop loop, Queue<Op> onTheWire, Random random, long began) {
    for (int i = 0; i < 3_000 && System.nanoTime() - began < 10_000_000_000L; i++) {
      Op[] ops = new Op[1 + random.nextInt(3)];
      for (int o = 0; o < ops.length; o++) {
        ops[o] = new Op(loop, onTheWire).submit();
      }
      for (Op op : ops) {
        if (random.nextInt(20) > 0) {
          await(loop, op);
        }
      }
    }
  }

  private static void answer(
      TestLoop loop, Queue<Op> onTheWire, CountDownLatch done, Random random) {
    // Not until the wire is empty: a request without a waiter may yet come onto it.
    long end = System.nanoTime() + LONG;
    while ((done.getCount() > 0 || loop.outstanding() > 0) && System.nanoTime() - end < 0) {
      for (int i = random.nextInt(4); i >= 0; i--) {
        Op op = onTheWire.poll();
        if (op != null) {
          loop.arrive(op);
        }
      }
      if (random.nextInt(8) == 0) {
        Thread.yield();
      }
    }
  }

  @Test
  void givesUpAtTheDeadline() throws Exception {
    TestLoop loop = new TestLoop(false, true);
    Op op = new Op(loop).submit();
    long start = System.nanoTime();
    assertFalse(loop.await(op, start + 50_000_000));
    assertTrue(System.nanoTime() - start >= 50_000_000);
    loop.arrive(op);
    assertTrue(loop.await(op, System.nanoTime() + LONG));
  }

  @Test
  void keepsItsPromiseToAnInterruptedThread() {
    TestLoop loop = new TestLoop(true, true);
    Op op = new Op(loop).submit();
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> loop.await(op, System.nanoTime() + LONG));
    assertFalse(Thread.currentThread().isInterrupted());
    op.end();
  }

  @Test
  void outlivesAFaultyTask() throws Exception {
    TestLoop loop = new TestLoop(true, true);
    Op waited = new Op(loop).submit();
    Thread driver = new Thread(() -> await(loop, waited));
    driver.start();
    until(() -> loop.sleepers.get() == 1);
    loop.submit(
        () -> {
          throw new IllegalStateException("a faulty task, as asked for");
        });
    loop.arrive(waited);
    driver.join();
    assertTrue(waited.isComplete());
  }

  @Test
  void endsCleanlyWithCallersInside() throws Exception {
    for (boolean callersDrive : new boolean[] {true, false}) {
      TestLoop loop = new TestLoop(callersDrive, true);
      AtomicInteger swept = new AtomicInteger();
      List<Op> ops = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Op op = new Op(loop).submit();
        ops.add(op);
        Thread thread = new Thread(() -> await(loop, op));
        thread.start();
        threads.add(thread);
      }
      loop.submit(
          () ->
              loop.register(
                  new Sweepable() {
                    @Override
                    public void sweep(long nowNanos) {}

                    @Override
                    public void loopClosing() {
                      swept.incrementAndGet();
                      ops.forEach(Op::end);
                    }
                  }));
      until(() -> loop.sleepers.get() == 1);
      loop.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(1, swept.get());
      assertTrue(loop.destroyed);
      Op late = new Op(loop).submit();
      assertEquals(ErrorCode.CLOSED, late.failure().code());
      assertTrue(loop.await(late, System.nanoTime() + LONG));
      Op never = new Op(loop);
      long start = System.nanoTime();
      assertFalse(loop.await(never, start + LONG));
      assertTrue(System.nanoTime() - start < LONG / 2, "a closed loop ends waits at once");
      assertEquals(0, loop.outstanding());
    }
  }

  @Test
  void sweepsEachOneAlsoWhenOthersLeave() {
    TestLoop loop = new TestLoop(false, true);
    List<String> swept = new CopyOnWriteArrayList<>();
    loop.submit(
        () -> {
          loop.register(now -> swept.add("stays"));
          for (String name : List.of("a", "b", "c")) {
            loop.register(
                new Sweepable() {
                  @Override
                  public void sweep(long nowNanos) {
                    swept.add(name);
                    loop.unregister(this);
                  }
                });
          }
        });
    until(
        () -> {
          // This loop sleeps until something comes.
          loop.submit(() -> {});
          return Collections.frequency(swept, "stays") >= 2;
        });
    List<String> firstSweep = List.copyOf(swept).subList(0, 4);
    assertTrue(firstSweep.containsAll(List.of("stays", "a", "b", "c")), swept::toString);
  }

  @Test
  void refusesToBeClosedFromWithin() {
    TestLoop loop = new TestLoop(true, true);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    loop.submit(() -> thrown.set(assertThrows(IllegalStateException.class, loop::close)));
    assertNotNull(thrown.get());
    assertFalse(loop.isClosed());
  }

  @Test
  void endsWhileThreadsKeepSubmitting() throws Exception {
    for (int round = 0; round < 30; round++) {
      TestLoop loop = new TestLoop(round % 2 == 0, true);
      AtomicInteger ended = new AtomicInteger();
      int count = 200;
      Thread[] threads = new Thread[3];
      for (int t = 0; t < threads.length; t++) {
        threads[t] =
            new Thread(
                () -> {
                  for (int i = 0; i < count; i++) {
                    Op op = new Op(loop);
                    op.whenComplete(ended::incrementAndGet);
                    op.submit();
                    if (!op.isComplete()) {
                      op.end();
                    }
                  }
                });
        threads[t].start();
      }
      loop.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(threads.length * count, ended.get());
    }
  }

  private static void await(DrivenLoop loop, Completion completion) {
    try {
      assertTrue(loop.await(completion, System.nanoTime() + LONG), "no end in time");
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void until(java.util.function.BooleanSupplier condition) {
    long end = System.nanoTime() + LONG;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "not within time");
      java.util.concurrent.locks.LockSupport.parkNanos(200_000);
    }
  }
}
