/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import io.crail.common.Clock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work that a loop's driver repeats: tasks, output, networks, deadlines. Any thread may add
 * tasks and read the statistics. All other methods are for the driver.
 */
final class LoopRound {
  private static final Logger LOG = LoggerFactory.getLogger(LoopRound.class);
  private static final VarHandle TAKING;
  private static final VarHandle ROUGH_TIME;

  /**
   * The low bits of a reading of the clock, which count how often it was reused. They cost a few
   * nanoseconds of precision.
   */
  private static final long USES = 15;

  /** Tasks that can wait for the driver without an allocation. */
  private static final int TASK_RING = 1024;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAKING = lookup.findVarHandle(LoopRound.class, "taking", int.class);
      ROUGH_TIME = lookup.findVarHandle(LoopRound.class, "roughTime", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String loopName;
  private final Clock clock;
  private final Outstanding outstanding;
  private final LoopNetworks networks;
  private final TaskQueue tasks = new TaskQueue(TASK_RING);
  private final Set<Sweepable> sweepables = new LinkedHashSet<>();
  private final List<Flushable> dirty = new ArrayList<>();
  private Sweepable[] sweeping = {};
  private long nextSweepNanos;
  private boolean running;
  private boolean taskBegins;

  // 1 while a taken task may not have begun its operation yet; written by the driver.
  private int taking;

  // The last reading of the clock and how often it was reused; 0 after a round.
  private long roughTime;

  // Written by the driver, read by the helper without need of order.
  private volatile long rounds;

  private volatile boolean closed;

  LoopRound(String loopName, Clock clock, Outstanding outstanding, LoopNetworks networks) {
    this.loopName = loopName;
    this.clock = clock;
    this.outstanding = outstanding;
    this.networks = networks;
    this.nextSweepNanos = clock.nanoTime();
  }

  // For any thread.

  /** Adds a task for the driver. */
  void add(LoopTask task) {
    tasks.add(task);
  }

  /** True when tasks wait. */
  boolean hasTasks() {
    return !tasks.isEmpty();
  }

  /**
   * The number of tasks that wait or are being taken. A task that is taken during the call is not
   * missed.
   */
  long waitingTasks() {
    long queued = tasks.size();
    return queued + (int) TAKING.getAcquire(this);
  }

  /** The time, or the time of a moment ago; see {@link DrivenLoop#roughNanos}. */
  long roughNanos() {
    long rough = (long) ROUGH_TIME.getOpaque(this);
    if (rough != 0 && (rough & USES) < USES && outstanding.count() > 0) {
      ROUGH_TIME.setOpaque(this, rough + 1);
      return rough & ~USES;
    }
    long now = clock.nanoTime();
    ROUGH_TIME.setOpaque(this, now & ~USES);
    return now;
  }

  /** From now on, a thread that drives leaves, and no other begins to. */
  void close() {
    closed = true;
  }

  /** True after {@link #close}. */
  boolean isClosed() {
    return closed;
  }

  /** A number that grows with each round. */
  long rounds() {
    return rounds;
  }

  /** Rejects the tasks that wait, after the end of the loop. */
  void rejectTasks() {
    for (LoopTask task = tasks.poll(); task != null; task = tasks.poll()) {
      task.rejected();
    }
  }

  // For the driver.

  /** True within a round. */
  boolean isRunning() {
    return running;
  }

  void register(Sweepable sweepable) {
    sweepables.add(sweepable);
  }

  void unregister(Sweepable sweepable) {
    sweepables.remove(sweepable);
  }

  void flushLater(Flushable flushable) {
    dirty.add(flushable);
  }

  /** Runs the remaining tasks, fails all outstanding operations and destroys the networks. */
  void end() {
    try {
      runTasks();
      for (Sweepable sweepable : List.copyOf(sweepables)) {
        closing(sweepable);
      }
      runTasks();
      networks.destroy();
    } catch (RuntimeException | Error e) {
      LOG.error("loop {} did not end cleanly", loopName, e);
    }
  }

  /** A bug of one must not leave the operations of the others outstanding. */
  private void closing(Sweepable sweepable) {
    try {
      sweepable.loopClosing();
    } catch (RuntimeException | Error e) {
      LOG.error("an end failed in loop {}", loopName, e);
    }
  }

  /**
   * One round.
   *
   * @param waitNanos the longest sleep; negative for none
   * @param awaited ends the sleep when it is complete, or null
   * @param startNanos the time
   * @return the time at the end, or the time at the start when the awaited completion has ended
   */
  long run(long waitNanos, Completion awaited, long startNanos) {
    running = true;
    try {
      if (!tasks.isEmpty()) {
        runTasks();
      }
      if (!dirty.isEmpty()) {
        flushDirty();
      }
      networks.pollOrWait(waitNanos, awaited, startNanos);
      ROUGH_TIME.setOpaque(this, 0L);
      if (!tasks.isEmpty()) {
        runTasks();
      }
      // A thread whose completion has ended leaves now. The next round begins with a reading of the
      // clock.
      long now = awaited != null && awaited.isComplete() ? startNanos : clock.nanoTime();
      if (now - nextSweepNanos >= 0) {
        nextSweepNanos = now + Sweepable.INTERVAL_NANOS;
        sweep(now);
      }
      if (!dirty.isEmpty()) {
        flushDirty();
      }
      return now;
    } finally {
      running = false;
      rounds++;
    }
  }

  /** Runs one round that waits for no particular completion. */
  void run(long waitNanos) {
    run(waitNanos, null, clock.nanoTime());
  }

  /** Runs rounds until a completion has ended, the deadline has passed or the loop is closed. */
  void driveUntil(Completion completion, long deadlineNanos, long startNanos, boolean spin)
      throws InterruptedException {
    long now = startNanos;
    while (!completion.isComplete() && !closed && deadlineNanos - now > 0) {
      long longest = Math.min(deadlineNanos - now, Sweepable.INTERVAL_NANOS);
      now = run(spin ? -1 : longest, completion, now);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** Runs a round that only serves the waiting tasks and their output. */
  void runLeftTasks() {
    running = true;
    try {
      runTasks();
      flushDirty();
    } finally {
      running = false;
    }
  }

  /**
   * Polls the networks when no thread has for a while. Within a round, does so only when a task
   * begins.
   */
  void refresh() {
    if (running && !taskBegins) {
      return;
    }
    taskBegins = false;
    long now = clock.nanoTime();
    if (!networks.isStale(now)) {
      return;
    }
    if (running) {
      networks.pollOrWait(-1, null, now);
    } else {
      run(-1, null, now);
    }
  }

  /** Runs the tasks that wait. */
  void runTasks() {
    // A task is taken by a compare-and-set, so a thread that sees that a task was taken also sees
    // this.
    TAKING.setOpaque(this, 1);
    try {
      for (LoopTask task = tasks.poll(); task != null; task = tasks.poll()) {
        taskBegins = true;
        try {
          task.runInLoop();
        } catch (RuntimeException | Error e) {
          LOG.error("a task failed in loop {}", loopName, e);
        }
      }
    } finally {
      TAKING.setRelease(this, 0);
      taskBegins = false;
    }
  }

  private void flushDirty() {
    for (int i = 0; i < dirty.size(); i++) {
      try {
        dirty.get(i).flushBatch();
      } catch (RuntimeException | Error e) {
        LOG.error("a flush failed in loop {}", loopName, e);
      }
    }
    dirty.clear();
  }

  private void sweep(long now) {
    // Sweeps may add or remove sweepables. All other sweepables are still swept.
    int count = sweepables.size();
    sweeping = sweepables.toArray(sweeping);
    for (int i = 0; i < count; i++) {
      Sweepable next = sweeping[i];
      sweeping[i] = null;
      try {
        if (sweepables.contains(next)) {
          next.sweep(now);
        }
      } catch (RuntimeException | Error e) {
        // The thread that drives now must not pay for a bug elsewhere.
        LOG.error("a sweep failed in loop {}", loopName, e);
      }
    }
  }
}
