/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Client connections and the one thread at a time that drives them. There is no thread that owns
 * the loop: a thread that waits for its own operation takes it, runs the network until that
 * operation has ended, and leaves it to the next waiting thread. A synchronous call so pays no
 * hand-over between threads; that is worth a factor of ten with one operation in flight.
 *
 * <p>Operations that nobody waits for are served by a helper thread, which takes the loop when it
 * finds it undriven and gives it back as soon as a caller asks for it. A transport that must stay
 * with one thread turns caller driving off; then the helper drives all the time.
 *
 * <p>Methods marked <em>in the loop</em> may only be called by the driving thread; all others by
 * any thread.
 */
public abstract class ClientLoop implements Connector, AutoCloseable {
  /** Something to run in the loop. */
  public interface Task {
    /** Runs in the loop; must not block. */
    void runInLoop();

    /** The loop was closed before the task could run. Called by any thread. */
    default void rejected() {}
  }

  /** Something that wants to look at the time now and then, for deadlines and back-off. */
  public interface Sweepable {
    /**
     * Runs in the loop, every {@link #SWEEP_INTERVAL_NANOS} or so while anything is outstanding,
     * and every second or so while nothing is.
     */
    void sweep(long nowNanos);

    /** The loop is about to end: fails what is outstanding. In the loop, once. */
    default void loopClosing() {}
  }

  /** Something with output that waits for the end of the present batch. */
  public interface Flushable {
    /** Runs in the loop, before the loop waits. */
    void flushBatch();
  }

  /** How often deadlines are looked at; so late a deadline may be noticed. */
  public static final long SWEEP_INTERVAL_NANOS = 20_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(ClientLoop.class);
  private static final VarHandle DRIVER;
  private static final VarHandle CALLS;
  private static final VarHandle ROUGH_TIME;
  private static final VarHandle TAKING;
  private static final long HELPER_TICK_NANOS = 1_000_000;
  private static final int HELPER_IDLE_TICKS = 500;

  /** How often in a row the helper finds that callers drive before it looks more rarely. */
  private static final int HELPER_DRIVEN_TICKS = 64;

  /** A look costs a wake-up, and many loops of busy callers would have many of them. */
  private static final long HELPER_DRIVEN_TICK_NANOS = 8_000_000;

  private static final long HELPER_IDLE_WAIT_NANOS = 1_000_000_000;
  private static final long WAITER_CHECK_NANOS = 25_000_000;
  private static final long STALE_NANOS = 2_000_000;

  /** How often the loop's own network is asked while another keeps the driver from sleeping. */
  private static final long OWN_POLL_NANOS = 20_000;

  /** The longest sleep beside pollers whose descriptors cannot be watched. */
  private static final long BLIND_WAIT_NANOS = 100_000;

  /** Tasks that can wait for the driver without an allocation. */
  private static final int TASK_RING = 1024;

  /** Low bits of a time that count how often it was told; they cost it nanoseconds. */
  private static final long TELLINGS = 15;

  /** Questions between two looks at the clock. */
  private static final int SPINS = 32;

  /** Drives a loop that has ended, so that nobody else does; never runs. */
  private static final Thread NOBODY = new Thread(() -> {}, "crail-closed-loop");

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      DRIVER = lookup.findVarHandle(ClientLoop.class, "driver", Thread.class);
      CALLS = lookup.findVarHandle(ClientLoop.class, "calls", long.class);
      TAKING = lookup.findVarHandle(ClientLoop.class, "taking", int.class);
      ROUGH_TIME = lookup.findVarHandle(ClientLoop.class, "roughTime", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String name;
  private final Clock clock;
  private final boolean callersDrive;
  private final boolean spin;
  private final TaskQueue tasks = new TaskQueue(TASK_RING);
  private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiterCount = new AtomicInteger();
  private final AtomicLong outstanding = new AtomicLong();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Set<Sweepable> sweepables = new LinkedHashSet<>();
  private Sweepable[] sweeping = {};
  private final List<Flushable> dirty = new ArrayList<>();
  private final List<Poller> pollers = new ArrayList<>();
  private final Thread helper;

  private volatile Connector connector = this;

  private volatile Thread driver;
  private volatile boolean parked;
  private volatile boolean helperDrives;
  private volatile boolean helperIdle;
  private volatile boolean closed;
  private volatile boolean ended;

  // Calls that have begun and not ended; written by the driver, read by anybody.
  private long calls;

  // 1 while a task may have been taken that has not begun its operation; written by the driver.
  private int taking;

  // The time of the last look at the clock and how often it was told since; 0 after a round.
  private long roughTime;

  // Written by the driver, read by the helper without need of order.
  private volatile long drives;

  private long nextSweepNanos;
  private long lastPollNanos;
  private long lastOwnPollNanos;
  private boolean stepping;
  private boolean taskBegins;
  private boolean blind;

  /**
   * Creates a loop.
   *
   * @param name names the helper thread
   * @param callersDrive whether a waiting thread may drive; else only the helper does
   * @param spin whether the driver polls without ever sleeping
   * @param withHelper whether there is a helper thread; a simulation has none
   */
  protected ClientLoop(
      String name, Clock clock, boolean callersDrive, boolean spin, boolean withHelper) {
    this.name = name;
    this.clock = clock;
    this.callersDrive = callersDrive;
    this.spin = spin;
    this.nextSweepNanos = clock.nanoTime();
    this.lastPollNanos = nextSweepNanos;
    if (!callersDrive && !withHelper) {
      throw new IllegalArgumentException("nobody would drive the loop");
    }
    this.helper =
        withHelper
            ? new Thread(callersDrive ? this::help : this::driveAlways, "crail-" + name)
            : null;
  }

  /** Starts the helper; called at the end of a subclass's constructor. */
  protected final void start() {
    if (helper != null) {
      helper.setDaemon(true);
      helper.start();
    }
  }

  /** The name given at creation. */
  public final String name() {
    return name;
  }

  /** The clock of this loop's deadlines. */
  public final Clock clock() {
    return clock;
  }

  /**
   * The time, or that of a moment ago: reading the clock costs a tenth of a short call, so it is
   * read once for some that are issued back to back. A time is told on only while operations are
   * outstanding, and until the next round, which is then at most some 20 ms away.
   */
  public final long roughNanos() {
    long told = (long) ROUGH_TIME.getOpaque(this);
    // Without a helper nobody makes sure of that round.
    if (told != 0 && (told & TELLINGS) < TELLINGS && helper != null && outstanding() > 0) {
      ROUGH_TIME.setOpaque(this, told + 1);
      return told & ~TELLINGS;
    }
    long now = clock.nanoTime();
    ROUGH_TIME.setOpaque(this, now & ~TELLINGS);
    return now;
  }

  /** True in the thread that drives the loop now. */
  public final boolean isDriver() {
    return driver == Thread.currentThread();
  }

  /** True when {@code thread} drives the loop now. */
  protected final boolean isDriver(Thread thread) {
    return driver == thread;
  }

  /** True within a step, at whose end everything is flushed. In the loop. */
  final boolean isStepping() {
    return stepping;
  }

  /**
   * Runs a task in the loop: at once when the loop is free or the caller's, else by the thread that
   * drives it. Tasks of one thread run in their order.
   */
  public final void submit(Task task) {
    Thread self = Thread.currentThread();
    if (driver == self) {
      task.runInLoop();
    } else if (callersDrive && tryDrive(self)) {
      try {
        if (!tasks.isEmpty()) {
          runTasks();
        }
        task.runInLoop();
      } finally {
        release();
      }
    } else {
      tasks.add(task);
      if (parked) {
        wakeup();
      }
      serveLeftTasks();
      if (ended) {
        rejectTasks();
      }
    }
  }

  /** Counts an operation that has begun; the helper stays awake while there is one. */
  public final void operationBegun() {
    outstanding.incrementAndGet();
    if (helperIdle) {
      LockSupport.unpark(helper);
    }
  }

  /** Counts the end of an operation. */
  public final void operationEnded() {
    outstanding.decrementAndGet();
  }

  /**
   * Counts a call, as {@link #operationBegun}, but where one thread counts at a time that costs
   * nothing. In the loop.
   */
  final void callBegun() {
    CALLS.setOpaque(this, calls + 1);
  }

  /** Counts the end of a call. In the loop. */
  final void callEnded() {
    CALLS.setOpaque(this, calls - 1);
  }

  /** Operations that have begun and not ended. */
  public final long outstanding() {
    return outstanding.get() + (long) CALLS.getOpaque(this);
  }

  /**
   * As {@link #outstanding}, and the tasks that wait for the thread that drives the loop: most of
   * them are operations that have not begun, for as long as that thread gets no processor. A
   * transfer over the network that waits counts twice, and so may what is taken just now; nothing
   * is missed.
   */
  public final long outstandingOrQueued() {
    // In the order in which a task goes, so that one that goes on meanwhile is seen twice.
    long queued = tasks.size();
    long taken = (int) TAKING.getAcquire(this);
    return queued + taken + outstanding();
  }

  /**
   * Waits for a completion, driving the loop where nobody else does.
   *
   * @param deadlineNanos when to give up, by {@link #clock()}
   * @return false when the deadline passed first, or the loop was closed
   * @throws InterruptedException when the thread is interrupted
   * @throws IllegalStateException in the loop, where waiting would never end
   */
  public final boolean await(Completion completion, long deadlineNanos)
      throws InterruptedException {
    if (completion.isComplete()) {
      return true;
    }
    Thread self = Thread.currentThread();
    if (driver == self) {
      throw new IllegalStateException("a callback must not wait for an operation");
    }
    boolean listed = false;
    boolean named = false;
    try {
      while (!completion.isComplete()) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        long now = clock.nanoTime();
        if (deadlineNanos - now <= 0 || ended) {
          return completion.isComplete();
        }
        if (callersDrive && !closed && tryDrive(self)) {
          try {
            driveUntil(completion, deadlineNanos, now);
          } finally {
            release();
          }
        } else if (!listed && callersDrive) {
          // Listed before the next try, so that whoever releases the loop sees this thread.
          listed = true;
          waiters.add(self);
          waiterCount.incrementAndGet();
          if (helperDrives) {
            wakeup();
          }
        } else if (!named) {
          // Named before the next look at the completion.
          named = true;
          completion.waiter(self);
        } else {
          LockSupport.parkNanos(this, Math.min(deadlineNanos - now, WAITER_CHECK_NANOS));
        }
      }
      return true;
    } finally {
      if (listed) {
        waiters.remove(self);
        waiterCount.decrementAndGet();
        if (driver == null) {
          wakeNextWaiter();
        }
      }
    }
  }

  /** Makes whatever progress is possible without waiting; true when this thread could drive. */
  public final boolean pollOnce() {
    Thread self = Thread.currentThread();
    if (driver == self || !callersDrive || !tryDrive(self)) {
      return false;
    }
    try {
      step(-1);
    } finally {
      release();
    }
    return true;
  }

  /** Asks to be swept from now on. In the loop. */
  public final void register(Sweepable sweepable) {
    sweepables.add(sweepable);
  }

  /** Asks not to be swept any more. In the loop. */
  public final void unregister(Sweepable sweepable) {
    sweepables.remove(sweepable);
  }

  /** Asks for one flush at the end of the present batch. In the loop. */
  public final void flushLater(Flushable flushable) {
    dirty.add(flushable);
  }

  /**
   * Has the driver poll another network too, until the end of the loop, which ends it. In the loop.
   */
  public final void attach(Poller poller) {
    pollers.add(poller);
  }

  /** The attached poller of a class, or null. In the loop. */
  public final <T extends Poller> T attached(Class<T> type) {
    for (Poller poller : pollers) {
      if (type.isInstance(poller)) {
        return type.cast(poller);
      }
    }
    return null;
  }

  /**
   * Has the driver end its sleep when a descriptor of a poller becomes readable; the descriptor
   * stays open until the poller is destroyed, or {@link #unwatchDescriptor} was called. In the
   * loop.
   */
  public final void watchDescriptor(int descriptor) {
    blind |= !watch(descriptor);
  }

  /** Ends {@link #watchDescriptor}, before the descriptor is closed. In the loop. */
  public final void unwatchDescriptor(int descriptor) {
    unwatch(descriptor);
  }

  /** What makes the connections that are asked for: the loop itself, unless another was set. */
  public final Connector connector() {
    return connector;
  }

  /** Has another network make the connections; before the loop is used. */
  public final void connectThrough(Connector another) {
    connector = another;
  }

  /**
   * Has {@link #poll} end its wait while a descriptor is readable, which stays open as long as the
   * loop, or until {@link #unwatch}. In the loop.
   *
   * @return false when the loop's own network cannot do so
   */
  protected boolean watch(int descriptor) {
    return false;
  }

  /** Ends {@link #watch}. In the loop. */
  protected void unwatch(int descriptor) {}

  /**
   * Looks at the network when nobody has for a while, so that a connection that ended during a
   * pause is known to be dead before a request is entrusted to it. The pause may also be one of the
   * driver between the network and its tasks, when it gets no processor. In the loop.
   */
  final void refresh() {
    if (stepping && !taskBegins) {
      // In the midst of something else.
      return;
    }
    taskBegins = false;
    long now = clock.nanoTime();
    if (now - lastPollNanos <= STALE_NANOS) {
      return;
    }
    if (stepping) {
      pollOrWait(-1, null, now);
    } else {
      step(-1);
    }
  }

  /**
   * Runs the network once. In the loop.
   *
   * @param waitNanos the longest time to wait for something to do; negative: do not wait
   */
  protected abstract void poll(long waitNanos);

  /**
   * False while {@link #poll} without a wait would find nothing, because nobody has used the loop's
   * own network; then a driver who is busy with another leaves it out. In the loop.
   */
  protected boolean isUsed() {
    return true;
  }

  /**
   * False as soon as something has come up that the driver should look at. A transport asks between
   * becoming able to be woken up and falling asleep: a {@link #wakeup} before that point is lost on
   * it.
   */
  protected final boolean mayWait() {
    return tasks.isEmpty()
        && !closed
        && !(helperDrives && callersDrive && waiterCount.get() > 0)
        && !Thread.currentThread().isInterrupted();
  }

  /** Ends the wait of a {@link #poll} in another thread. */
  protected abstract void wakeup();

  /** Releases the transport's part of the loop. In the loop, once, as its last act. */
  protected abstract void destroy();

  /**
   * Fails what is outstanding with {@link io.crail.common.error.ErrorCode#CLOSED}, closes the
   * connections and ends the loop.
   *
   * @throws IllegalStateException in the loop
   */
  @Override
  public void close() {
    Thread self = Thread.currentThread();
    if (driver == self) {
      throw new IllegalStateException("a callback must not close its loop");
    }
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    closed = true;
    wakeup();
    if (helper != null) {
      LockSupport.unpark(helper);
      boolean interrupted = false;
      while (helper.isAlive()) {
        try {
          helper.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        self.interrupt();
      }
    }
    if (callersDrive) {
      while (!tryDrive(self)) {
        wakeup();
        LockSupport.parkNanos(HELPER_TICK_NANOS);
      }
      end();
    }
  }

  /** True after {@link #close()} was called. */
  public final boolean isClosed() {
    return closed;
  }

  /** Ends the loop; the calling thread drives it and nobody will afterwards. */
  private void end() {
    runTasks();
    try {
      for (Sweepable sweepable : List.copyOf(sweepables)) {
        sweepable.loopClosing();
      }
      runTasks();
      pollers.forEach(Poller::destroy);
      destroy();
    } catch (RuntimeException | AssertionError e) {
      LOG.error("loop {} did not end cleanly", name, e);
    }
    ended = true;
    driver = NOBODY;
    rejectTasks();
    for (Thread waiter : waiters) {
      LockSupport.unpark(waiter);
    }
  }

  private void rejectTasks() {
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      task.rejected();
    }
  }

  private boolean tryDrive(Thread self) {
    return driver == null && DRIVER.compareAndSet(this, null, self);
  }

  private void release() {
    leave();
    if (!tasks.isEmpty()) {
      serveLeftTasks();
    }
    if (waiterCount.get() > 0) {
      wakeNextWaiter();
    }
  }

  private void leave() {
    driver = null;
    // Calls that were begun here are the helper's from now on.
    if (helperIdle && outstanding() > 0) {
      LockSupport.unpark(helper);
    }
  }

  /** Runs tasks that were queued while the loop was being released. */
  private void serveLeftTasks() {
    if (!callersDrive) {
      return;
    }
    Thread self = Thread.currentThread();
    while (!tasks.isEmpty() && tryDrive(self)) {
      stepping = true;
      try {
        runTasks();
        flushDirty();
      } finally {
        stepping = false;
        leave();
      }
      if (waiterCount.get() > 0) {
        wakeNextWaiter();
      }
    }
  }

  private void wakeNextWaiter() {
    Thread self = Thread.currentThread();
    for (Thread waiter : waiters) {
      // The present thread is about to leave the queue, so the one after it is next.
      if (waiter != self) {
        LockSupport.unpark(waiter);
        return;
      }
    }
  }

  private void runTasks() {
    // Seen by whoever sees that a task was taken, which is a compare-and-set.
    TAKING.setOpaque(this, 1);
    try {
      for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
        taskBegins = true;
        try {
          task.runInLoop();
        } catch (RuntimeException | AssertionError e) {
          LOG.error("a task failed in loop {}", name, e);
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
        LOG.error("a flush failed in loop {}", name, e);
      }
    }
    dirty.clear();
  }

  private void driveUntil(Completion completion, long deadlineNanos, long startNanos)
      throws InterruptedException {
    long now = startNanos;
    while (!completion.isComplete() && !closed && deadlineNanos - now > 0) {
      now = step(spin ? -1 : Math.min(deadlineNanos - now, SWEEP_INTERVAL_NANOS), completion, now);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private void step(long waitNanos) {
    step(waitNanos, null, clock.nanoTime());
  }

  /**
   * One round of the loop: tasks, output, network, deadlines.
   *
   * @param awaited ends the wait when it is complete, or null
   * @param startNanos the time
   * @return the time at the end; that at the start when what was awaited is complete
   */
  private long step(long waitNanos, Completion awaited, long startNanos) {
    stepping = true;
    try {
      if (!tasks.isEmpty()) {
        runTasks();
      }
      if (!dirty.isEmpty()) {
        flushDirty();
      }
      pollOrWait(waitNanos, awaited, startNanos);
      ROUGH_TIME.setOpaque(this, 0L);
      if (!tasks.isEmpty()) {
        runTasks();
      }
      // Whoever has what it waited for leaves now, and the next round begins with a look.
      long now = awaited != null && awaited.isComplete() ? startNanos : clock.nanoTime();
      if (now - nextSweepNanos >= 0) {
        nextSweepNanos = now + SWEEP_INTERVAL_NANOS;
        sweep(now);
      }
      if (!dirty.isEmpty()) {
        flushDirty();
      }
      return now;
    } finally {
      stepping = false;
      drives++;
    }
  }

  private void pollOrWait(long waitNanos, Completion awaited, long startNanos) {
    // What came after this may not have been seen.
    lastPollNanos = startNanos;
    if (!pollers.isEmpty()) {
      pollAllOrWait(waitNanos, awaited, startNanos);
      return;
    }
    if (waitNanos < 0 || (awaited != null && awaited.isComplete())) {
      poll(-1);
      return;
    }
    parked = true;
    try {
      poll(mayWait() ? waitNanos : -1);
    } finally {
      parked = false;
    }
  }

  private void pollAllOrWait(long waitNanos, Completion awaited, long startNanos) {
    boolean ask = waitNanos < 0 || (awaited != null && awaited.isComplete());
    if (pollPollers() || ask || spin(waitNanos, startNanos)) {
      if (isUsed()) {
        pollOwnNowAndThen();
      }
      return;
    }
    parked = true;
    try {
      long longest = blind ? Math.min(waitNanos, BLIND_WAIT_NANOS) : waitNanos;
      poll(armPollers() && mayWait() ? longest : -1);
    } finally {
      parked = false;
    }
    pollPollers();
  }

  private void pollOwnNowAndThen() {
    long now = clock.nanoTime();
    if (now - lastOwnPollNanos >= OWN_POLL_NANOS) {
      lastOwnPollNanos = now;
      poll(-1);
    }
  }

  private boolean pollPollers() {
    boolean progress = false;
    for (int i = 0; i < pollers.size(); i++) {
      try {
        progress |= pollers.get(i).poll();
      } catch (RuntimeException | AssertionError e) {
        LOG.error("a poll failed in loop {}", name, e);
      }
    }
    return progress;
  }

  /**
   * Goes on asking for a while, but not beyond the wait, at whose end deadlines are looked at.
   *
   * @param startNanos the time
   * @return false when it is time to sleep
   */
  private boolean spin(long waitNanos, long startNanos) {
    long spinNanos = 0;
    for (int i = 0; i < pollers.size(); i++) {
      if (pollers.get(i).isBusy()) {
        spinNanos = Math.max(spinNanos, pollers.get(i).spinNanos());
      }
    }
    if (spinNanos == 0) {
      return false;
    }
    // Who never sleeps looks at the loop's own network and at the deadlines in between.
    boolean neverSleeps = spinNanos > waitNanos;
    long limitNanos = neverSleeps ? Math.min(OWN_POLL_NANOS, waitNanos) : spinNanos;
    do {
      for (int i = 0; i < SPINS; i++) {
        // Without a pause in between: a question is as short as one.
        if (pollPollers()) {
          return true;
        }
      }
      // Who only asks would keep others from this processor until the end of a time slice.
      Thread.yield();
    } while (mayWait() && clock.nanoTime() - startNanos < limitNanos);
    return neverSleeps;
  }

  private boolean armPollers() {
    boolean armed = true;
    for (int i = 0; i < pollers.size(); i++) {
      armed &= pollers.get(i).arm();
    }
    return armed;
  }

  private void sweep(long now) {
    // Some come and leave meanwhile, which keeps nobody else from being swept.
    int count = sweepables.size();
    sweeping = sweepables.toArray(sweeping);
    for (int i = 0; i < count; i++) {
      Sweepable next = sweeping[i];
      sweeping[i] = null;
      try {
        if (sweepables.contains(next)) {
          next.sweep(now);
        }
      } catch (RuntimeException | AssertionError e) {
        // Whoever drives now must not pay for somebody else's bug.
        LOG.error("a sweep failed in loop {}", name, e);
      }
    }
  }

  /** The helper beside driving callers. */
  private void help() {
    Thread self = Thread.currentThread();
    int idleTicks = 0;
    int drivenTicks = 0;
    long seen = -1;
    while (!closed) {
      boolean idle = outstanding() == 0 && tasks.isEmpty();
      if (idle && ++idleTicks > HELPER_IDLE_TICKS) {
        helperIdle = true;
        if (outstanding() == 0 && tasks.isEmpty() && !closed) {
          LockSupport.parkNanos(this, HELPER_IDLE_WAIT_NANOS);
        }
        helperIdle = false;
        drivenTicks = 0;
        if (outstanding() == 0 && tasks.isEmpty() && !closed) {
          idleTicks = HELPER_IDLE_TICKS;
          lookAround(self);
        } else {
          idleTicks = 0;
        }
        continue;
      }
      idleTicks = idle ? idleTicks : 0;
      LockSupport.parkNanos(
          this, drivenTicks < HELPER_DRIVEN_TICKS ? HELPER_TICK_NANOS : HELPER_DRIVEN_TICK_NANOS);
      if (drives != seen || driver != null) {
        drivenTicks = Math.min(drivenTicks + 1, HELPER_DRIVEN_TICKS);
      } else {
        drivenTicks = 0;
        if (!idle) {
          helperTurn(self);
        }
      }
      seen = drives;
    }
  }

  /** Lets an idle loop notice lost connections, and what else changes without it. */
  private void lookAround(Thread self) {
    if (tryDrive(self)) {
      try {
        step(-1);
      } catch (RuntimeException | AssertionError e) {
        LOG.error("loop {} failed", name, e);
      } finally {
        release();
      }
    }
  }

  /** Drives until nothing is outstanding or a caller asks for the loop. */
  private void helperTurn(Thread self) {
    if (!tryDrive(self)) {
      return;
    }
    helperDrives = true;
    try {
      while (!closed && (outstanding() > 0 || !tasks.isEmpty()) && waiterCount.get() == 0) {
        step(SWEEP_INTERVAL_NANOS);
      }
    } catch (RuntimeException | AssertionError e) {
      LOG.error("loop {} failed", name, e);
    } finally {
      helperDrives = false;
      release();
    }
  }

  /** The helper where no caller may drive. */
  private void driveAlways() {
    driver = Thread.currentThread();
    while (!closed) {
      try {
        boolean busy = outstanding() > 0;
        step(busy && spin ? -1 : busy ? SWEEP_INTERVAL_NANOS : HELPER_IDLE_WAIT_NANOS);
      } catch (RuntimeException | AssertionError e) {
        LOG.error("loop {} failed", name, e);
      }
    }
    end();
  }
}
