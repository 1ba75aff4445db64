/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides which thread drives a loop, and keeps the threads that wait for their turn to drive. For
 * any thread.
 */
final class DriverSeat {
  private static final VarHandle DRIVER;

  /** Stands for the driver of a loop that has ended, so that no thread drives it. Never runs. */
  private static final Thread NO_DRIVER = new Thread(() -> {}, "crail-closed-loop");

  static {
    try {
      DRIVER = MethodHandles.lookup().findVarHandle(DriverSeat.class, "driver", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiterCount = new AtomicInteger();
  private final LoopRound round;
  private final boolean callersDrive;
  private final Runnable left;
  private volatile Thread driver;
  private volatile boolean helperDrives;

  /**
   * Creates a seat that no thread has taken.
   *
   * @param left called when a driver has left the seat
   */
  DriverSeat(LoopRound round, boolean callersDrive, Runnable left) {
    this.round = round;
    this.callersDrive = callersDrive;
    this.left = left;
  }

  /** True when {@code thread} drives. */
  boolean isTakenBy(Thread thread) {
    return driver == thread;
  }

  /** True when a thread drives, or the loop has ended. */
  boolean isTaken() {
    return driver != null;
  }

  /** Makes the calling thread the driver, unless there is one. */
  boolean tryTake(Thread self) {
    return driver == null && DRIVER.compareAndSet(this, null, self);
  }

  /** Makes the calling thread the driver. No other thread may drive. */
  void take(Thread self) {
    driver = self;
  }

  /**
   * The driver leaves the seat. It first serves the tasks that came while it left, and wakes the
   * next waiting thread.
   */
  void release() {
    leave();
    if (round.hasTasks()) {
      serveLeftTasks();
    }
    wakeNext();
  }

  private void leave() {
    driver = null;
    left.run();
  }

  /**
   * Runs the tasks that were queued while the driver left, unless another thread has taken the
   * seat.
   */
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

  /** Ends the loop. The calling thread drives it, and no thread will drive it afterwards. */
  void end() {
    try {
      round.end();
    } finally {
      driver = NO_DRIVER;
      try {
        round.rejectTasks();
      } finally {
        // Only now, so that a waiting thread finds its call ended.
        for (Thread waiter : waiters) {
          LockSupport.unpark(waiter);
        }
      }
    }
  }

  /** True after {@link #end}. Tasks that are added from now on have to be rejected. */
  boolean isEnded() {
    return driver == NO_DRIVER;
  }

  /** Adds the calling thread to the threads that are woken when the seat becomes free. */
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
      // The present thread is about to leave the queue, so it is skipped.
      if (waiter != self) {
        LockSupport.unpark(waiter);
        return;
      }
    }
  }

  /**
   * Sets whether the helper drives. The helper leaves when another thread waits. Called by the
   * helper.
   */
  void helperDrives(boolean drives) {
    helperDrives = drives;
  }

  /** True while the helper drives. */
  boolean isHelpers() {
    return helperDrives;
  }
}
