/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Who drives a loop, who waits until he may, and whom to wake. For any thread. */
final class DriverSeat {
  private static final VarHandle DRIVER;

  /** Drives a loop that has ended, so that nobody else does; never runs. */
  private static final Thread NOBODY = new Thread(() -> {}, "crail-closed-loop");

  static {
    try {
      DRIVER = MethodHandles.lookup().findVarHandle(DriverSeat.class, "driver", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiterCount = new AtomicInteger();
  private final ClientLoop loop;
  private final LoopRound round;
  private final boolean callersDrive;
  private volatile Thread driver;
  private volatile boolean helperDrives;

  /** Nobody drives yet. */
  DriverSeat(ClientLoop loop, LoopRound round, boolean callersDrive) {
    this.loop = loop;
    this.round = round;
    this.callersDrive = callersDrive;
  }

  /** True when {@code thread} drives. */
  boolean isTakenBy(Thread thread) {
    return driver == thread;
  }

  /** True when somebody drives, or the loop has ended. */
  boolean isTaken() {
    return driver != null;
  }

  /** Makes the calling thread the driver, unless there is one. */
  boolean tryTake(Thread self) {
    return driver == null && DRIVER.compareAndSet(this, null, self);
  }

  /** Makes the calling thread the driver where there is no other. */
  void take(Thread self) {
    driver = self;
  }

  /** The driver leaves, and sees to what waits for another. */
  void release() {
    leave();
    if (round.hasTasks()) {
      serveLeftTasks();
    }
    wakeNext();
  }

  private void leave() {
    driver = null;
    // Calls that were begun here are the helper's from now on.
    loop.wakeHelper();
  }

  /** Runs tasks that were queued while the driver left, unless another has come. */
  void serveLeftTasks() {
    if (!callersDrive) {
      return;
    }
    Thread self = Thread.currentThread();
    while (round.hasTasks() && tryTake(self)) {
      try {
        round.runLeftTasks();
      } finally {
        leave();
      }
      wakeNext();
    }
  }

  /** Nobody drives any more. By the driver. */
  void end() {
    driver = NOBODY;
  }

  /** Wakes all who wait for the seat, after its end. */
  void wakeAll() {
    for (Thread waiter : waiters) {
      LockSupport.unpark(waiter);
    }
  }

  /** Has the calling thread be woken when the seat becomes free. */
  void enlist(Thread self) {
    waiters.add(self);
    waiterCount.incrementAndGet();
  }

  /** Ends {@link #enlist}. */
  void delist(Thread self) {
    waiters.remove(self);
    waiterCount.decrementAndGet();
    if (driver == null) {
      wakeNext();
    }
  }

  /** True when threads wait for the seat. */
  boolean isAwaited() {
    return waiterCount.get() > 0;
  }

  private void wakeNext() {
    if (waiterCount.get() == 0) {
      return;
    }
    Thread self = Thread.currentThread();
    for (Thread waiter : waiters) {
      // The present thread is about to leave the queue, so the one after it is next.
      if (waiter != self) {
        LockSupport.unpark(waiter);
        return;
      }
    }
  }

  /** Sets whether the helper drives, who leaves when somebody waits. By the helper. */
  void helperDrives(boolean drives) {
    helperDrives = drives;
  }

  /** True while the helper drives. */
  boolean isHelpers() {
    return helperDrives;
  }
}
