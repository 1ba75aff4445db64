/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a loop's driver does again and again: tasks, output, networks, deadlines. Any thread adds
 * tasks and reads the figures; all else is the driver's.
 */
final class LoopRound {
  private static final Logger LOG = LoggerFactory.getLogger(LoopRound.class);
  private static final VarHandle TAKING;
  private static final VarHandle ROUGH_TIME;

  /** Low bits of a time that count how often it was told; they cost it nanoseconds. */
  private static final long TELLINGS = 15;

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

  private final ClientLoop loop;
  private final LoopNetworks networks;
  private final TaskQueue tasks = new TaskQueue(TASK_RING);
  private final Set<ClientLoop.Sweepable> sweepables = new LinkedHashSet<>();
  private final List<ClientLoop.Flushable> dirty = new ArrayList<>();
  private ClientLoop.Sweepable[] sweeping = {};
  private long nextSweepNanos;
  private boolean running;
  private boolean taskBegins;

  // 1 while a task may have been taken that has not begun its operation; written by the driver.
  private int taking;

  // The time of the last look at the clock and how often it was told since; 0 after a round.
  private long roughTime;

  // Written by the driver, read by the helper without need of order.
  private volatile long rounds;

  LoopRound(ClientLoop loop, LoopNetworks networks, long nowNanos) {
    this.loop = loop;
    this.networks = networks;
    this.nextSweepNanos = nowNanos;
  }

  // For any thread.

  /** Adds a task for the driver. */
  void add(ClientLoop.Task task) {
    tasks.add(task);
  }

  /** True when tasks wait. */
  boolean hasTasks() {
    return !tasks.isEmpty();
  }

  /** Tasks that wait or were taken just now; none is missed that goes on meanwhile. */
  long waitingTasks() {
    long queued = tasks.size();
    return queued + (int) TAKING.getAcquire(this);
  }

  /** The time, or that of a moment ago: see {@link ClientLoop#roughNanos}. */
  long roughNanos() {
    long told = (long) ROUGH_TIME.getOpaque(this);
    if (told != 0 && (told & TELLINGS) < TELLINGS && loop.outstanding() > 0) {
      ROUGH_TIME.setOpaque(this, told + 1);
      return told & ~TELLINGS;
    }
    long now = loop.clock().nanoTime();
    ROUGH_TIME.setOpaque(this, now & ~TELLINGS);
    return now;
  }

  /** A number that grows with each round. */
  long rounds() {
    return rounds;
  }

  /** Rejects the tasks that wait, after the end of the loop. */
  void rejectTasks() {
    for (ClientLoop.Task task = tasks.poll(); task != null; task = tasks.poll()) {
      task.rejected();
    }
  }

  // For the driver.

  /** True within a round. */
  boolean isRunning() {
    return running;
  }

  void register(ClientLoop.Sweepable sweepable) {
    sweepables.add(sweepable);
  }

  void unregister(ClientLoop.Sweepable sweepable) {
    sweepables.remove(sweepable);
  }

  void flushLater(ClientLoop.Flushable flushable) {
    dirty.add(flushable);
  }

  /** Runs what is left, fails what is outstanding and destroys the networks. */
  void end() {
    runTasks();
    try {
      for (ClientLoop.Sweepable sweepable : List.copyOf(sweepables)) {
        sweepable.loopClosing();
      }
      runTasks();
      networks.destroyPollers();
      loop.destroy();
    } catch (RuntimeException | AssertionError e) {
      LOG.error("loop {} did not end cleanly", loop.name(), e);
    }
  }

  /**
   * One round.
   *
   * @param waitNanos the longest sleep; negative for none
   * @param awaited ends the sleep when it is complete, or null
   * @param startNanos the time
   * @return the time at the end; that at the start when what was awaited is complete
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
      // Whoever has what it waited for leaves now, and the next round begins with a look.
      long now = awaited != null && awaited.isComplete() ? startNanos : loop.clock().nanoTime();
      if (now - nextSweepNanos >= 0) {
        nextSweepNanos = now + ClientLoop.SWEEP_INTERVAL_NANOS;
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

  /** Rounds until something is complete, a time has come or the loop is closed. */
  void driveUntil(Completion completion, long deadlineNanos, long startNanos, boolean spin)
      throws InterruptedException {
    long now = startNanos;
    while (!completion.isComplete() && !loop.isClosed() && deadlineNanos - now > 0) {
      long longest = Math.min(deadlineNanos - now, ClientLoop.SWEEP_INTERVAL_NANOS);
      now = run(spin ? -1 : longest, completion, now);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** A round that does no more than what waits for a driver. */
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
   * Looks at the networks when nobody has for a while; not in the midst of something else than a
   * task that begins.
   */
  void refresh() {
    if (running && !taskBegins) {
      return;
    }
    taskBegins = false;
    long now = loop.clock().nanoTime();
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
    // Seen by whoever sees that a task was taken, which is a compare-and-set.
    TAKING.setOpaque(this, 1);
    try {
      for (ClientLoop.Task task = tasks.poll(); task != null; task = tasks.poll()) {
        taskBegins = true;
        try {
          task.runInLoop();
        } catch (RuntimeException | AssertionError e) {
          LOG.error("a task failed in loop {}", loop.name(), e);
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
      } catch (RuntimeException | AssertionError e) {
        LOG.error("a flush failed in loop {}", loop.name(), e);
      }
    }
    dirty.clear();
  }

  private void sweep(long now) {
    // Some come and leave meanwhile, which keeps nobody else from being swept.
    int count = sweepables.size();
    sweeping = sweepables.toArray(sweeping);
    for (int i = 0; i < count; i++) {
      ClientLoop.Sweepable next = sweeping[i];
      sweeping[i] = null;
      try {
        if (sweepables.contains(next)) {
          next.sweep(now);
        }
      } catch (RuntimeException | AssertionError e) {
        // Whoever drives now must not pay for somebody else's bug.
        LOG.error("a sweep failed in loop {}", loop.name(), e);
      }
    }
  }
}
