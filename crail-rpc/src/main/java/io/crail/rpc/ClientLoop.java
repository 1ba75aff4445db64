/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Client connections and the one thread at a time that drives them. No thread owns the loop. A
 * thread that waits for its own operation takes the loop, runs the network until that operation has
 * ended, and leaves the loop to the next waiting thread. So a synchronous call needs no hand-over
 * between threads, which makes it ten times as fast with one operation in flight.
 *
 * <p>A helper thread serves operations that no thread waits for. The helper takes the loop when no
 * thread drives it, and gives it back as soon as a caller asks for it. A transport that must stay
 * with one thread turns caller driving off; then the helper drives all the time.
 *
 * <p>Methods marked <em>in the loop</em> are for the driving thread, others for any thread.
 */
public abstract class ClientLoop implements Connector, AutoCloseable {
  /** A task to run in the loop. */
  public interface Task {
    /** Runs in the loop; must not block. */
    void runInLoop();

    /** Called by any thread when the loop was closed before the task could run. */
    default void rejected() {}
  }

  /** An object that looks at the time now and then, for deadlines and back-off. */
  public interface Sweepable {
    /**
     * Runs in the loop: about every {@link #SWEEP_INTERVAL_NANOS} while an operation is
     * outstanding, and about once a second otherwise.
     */
    void sweep(long nowNanos);

    /** Fails all outstanding operations before the loop ends. Called once, in the loop. */
    default void loopClosing() {}
  }

  /** An object whose output waits for the end of the present batch. */
  public interface Flushable {
    /** Runs in the loop, before the loop waits. */
    void flushBatch();
  }

  /** How often deadlines are checked. A deadline may be noticed this late. */
  public static final long SWEEP_INTERVAL_NANOS = 20_000_000;

  private static final VarHandle CALLS;
  private static final long CLOSE_WAIT_NANOS = 1_000_000;
  private static final long WAITER_CHECK_NANOS = 25_000_000;

  static {
    try {
      CALLS = MethodHandles.lookup().findVarHandle(ClientLoop.class, "calls", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String name;
  private final Clock clock;
  private final boolean callersDrive;
  private final boolean spin;
  private final DriverSeat seat;
  private final LoopNetworks networks;
  private final LoopRound round;
  private final LoopHelper helper;
  private final AtomicLong outstanding = new AtomicLong();
  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile Connector connector = this;
  private volatile boolean closed;
  private volatile boolean ended;

  // Calls that have begun and not ended; written by the driver, read by any thread.
  private long calls;

  /**
   * Creates a loop.
   *
   * @param name names the helper thread
   * @param callersDrive whether a waiting thread may drive; otherwise only the helper does
   * @param spin whether the driver polls without ever sleeping
   * @param withHelper whether there is a helper thread; a simulation has none
   */
  protected ClientLoop(
      String name, Clock clock, boolean callersDrive, boolean spin, boolean withHelper) {
    this.name = name;
    this.clock = clock;
    this.callersDrive = callersDrive;
    this.spin = spin;
    long now = clock.nanoTime();
    this.networks = new LoopNetworks(this, now);
    this.round = new LoopRound(this, networks, now);
    this.seat = new DriverSeat(this, round, callersDrive);
    if (!callersDrive && !withHelper) {
      throw new IllegalArgumentException("nobody would drive the loop");
    }
    this.helper = withHelper ? new LoopHelper(this, seat, round, callersDrive, spin) : null;
  }

  /** Starts the helper; called at the end of a subclass's constructor. */
  protected final void start() {
    if (helper != null) {
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
   * The time, or the time of a moment ago. Reading the clock costs a tenth of a short call, so
   * several calls in a row share one reading. A reading is reused only while operations are
   * outstanding, and only until the next round, which then begins within about 20 ms.
   */
  public final long roughNanos() {
    // Without a helper, no thread makes sure that this round comes.
    return helper == null ? clock.nanoTime() : round.roughNanos();
  }

  /** True in the thread that drives the loop now. */
  public final boolean isDriver() {
    return seat.isTakenBy(Thread.currentThread());
  }

  /** True when {@code thread} drives the loop now. */
  protected final boolean isDriver(Thread thread) {
    return seat.isTakenBy(thread);
  }

  /** True within a step. At the end of the step everything is flushed. In the loop. */
  final boolean isStepping() {
    return round.isRunning();
  }

  /**
   * Runs a task in the loop. The calling thread runs it at once when it drives the loop, or when no
   * thread does. Otherwise the driving thread runs it. Tasks of one thread run in their order.
   */
  public final void submit(Task task) {
    Thread self = Thread.currentThread();
    if (seat.isTakenBy(self)) {
      task.runInLoop();
    } else if (callersDrive && seat.tryTake(self)) {
      try {
        if (round.hasTasks()) {
          round.runTasks();
        }
        task.runInLoop();
      } finally {
        seat.release();
      }
    } else {
      round.add(task);
      if (networks.isParked()) {
        wakeup();
      }
      seat.serveLeftTasks();
      if (ended) {
        round.rejectTasks();
      }
    }
  }

  /** Counts an operation that has begun; the helper stays awake while there is one. */
  public final void operationBegun() {
    outstanding.incrementAndGet();
    wakeHelper();
  }

  /** Counts the end of an operation. */
  public final void operationEnded() {
    outstanding.decrementAndGet();
  }

  /**
   * Counts a call, as {@link #operationBegun}, but at no cost, since only one thread at a time
   * counts here. In the loop.
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
   * As {@link #outstanding}, plus the tasks that wait for the driving thread. Most of them are
   * operations that wait because that thread gets no processor. A waiting network transfer counts
   * twice, a task that is being taken may count twice, and no operation is missed.
   */
  public final long outstandingOrQueued() {
    // In the order in which a task moves, so that a moving task is seen twice rather than missed.
    return round.waitingTasks() + outstanding();
  }

  /**
   * Waits for a completion, and drives the loop while no other thread does.
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
    if (seat.isTakenBy(self)) {
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
        if (callersDrive && !closed && seat.tryTake(self)) {
          try {
            round.driveUntil(completion, deadlineNanos, now, spin);
          } finally {
            seat.release();
          }
        } else if (!listed && callersDrive) {
          // Listed before the next try, so that the thread that releases the loop sees this one.
          listed = true;
          seat.enlist(self);
          if (seat.isHelpers()) {
            wakeup();
          }
        } else if (!named) {
          // The waiter is named before the next look at the completion, so that no end is missed.
          named = true;
          completion.waiter(self);
        } else {
          LockSupport.parkNanos(this, Math.min(deadlineNanos - now, WAITER_CHECK_NANOS));
        }
      }
      return true;
    } finally {
      if (listed) {
        seat.delist(self);
      }
    }
  }

  /** Makes progress without waiting. Returns true when this thread could drive. */
  public final boolean pollOnce() {
    Thread self = Thread.currentThread();
    if (seat.isTakenBy(self) || !callersDrive || !seat.tryTake(self)) {
      return false;
    }
    try {
      step(-1);
    } finally {
      seat.release();
    }
    return true;
  }

  /** Asks to be swept from now on. In the loop. */
  public final void register(Sweepable sweepable) {
    round.register(sweepable);
  }

  /** Asks not to be swept any more. In the loop. */
  public final void unregister(Sweepable sweepable) {
    round.unregister(sweepable);
  }

  /** Asks for one flush at the end of the present batch. In the loop. */
  public final void flushLater(Flushable flushable) {
    round.flushLater(flushable);
  }

  /** Lets the driver poll another network, and destroy it when the loop ends. In the loop. */
  public final void attach(Poller poller) {
    networks.attach(poller);
  }

  /** The attached poller of a class, or null. In the loop. */
  public final <T extends Poller> T attached(Class<T> type) {
    return networks.attached(type);
  }

  /**
   * Lets a readable descriptor of a poller end the driver's sleep. The descriptor must stay open
   * until the poller is destroyed or {@link #unwatchDescriptor} was called. In the loop.
   */
  public final void watchDescriptor(int descriptor) {
    if (!watch(descriptor)) {
      networks.cannotWatch();
    }
  }

  /** Ends {@link #watchDescriptor}, before the descriptor is closed. In the loop. */
  public final void unwatchDescriptor(int descriptor) {
    unwatch(descriptor);
  }

  /** The connector of this loop: the loop itself, unless another one was set. */
  public final Connector connector() {
    return connector;
  }

  /** Sets another connector. Must be called before the loop is used. */
  public final void connectThrough(Connector another) {
    connector = another;
  }

  /**
   * Lets a readable descriptor end the wait of {@link #poll}. The descriptor stays open as long as
   * the loop, or until {@link #unwatch}. In the loop.
   *
   * @return false when the loop's own network cannot do so
   */
  protected boolean watch(int descriptor) {
    return false;
  }

  /** Ends {@link #watch}. In the loop. */
  protected void unwatch(int descriptor) {}

  /**
   * Looks at the network if no thread has for a while, so that a connection that ended during a
   * pause is not used for a request. Such a pause also occurs when the driver gets no processor
   * between the network and its tasks. In the loop.
   */
  final void refresh() {
    round.refresh();
  }

  /**
   * Runs the network once. In the loop.
   *
   * @param waitNanos the longest time to wait for something to do; negative: do not wait
   */
  protected abstract void poll(long waitNanos);

  /**
   * False while the loop's own network is unused, so that {@link #poll} would find nothing. Then a
   * driver that is busy with another network skips this one. In the loop.
   */
  protected boolean isUsed() {
    return true;
  }

  /**
   * False as soon as there is work for the driver. A transport must call this after it can be woken
   * up and before it falls asleep, since an earlier {@link #wakeup} has no effect on it.
   */
  protected final boolean mayWait() {
    return !round.hasTasks()
        && !closed
        && !(seat.isHelpers() && seat.isAwaited())
        && !Thread.currentThread().isInterrupted();
  }

  /** Ends the wait of a {@link #poll} in another thread. */
  protected abstract void wakeup();

  /** Releases the transport's part of the loop. In the loop, once, as its last act. */
  protected abstract void destroy();

  /**
   * Fails all outstanding operations with {@link io.crail.common.error.ErrorCode#CLOSED}, closes
   * the connections and ends the loop.
   *
   * @throws IllegalStateException in the loop
   */
  @Override
  public void close() {
    Thread self = Thread.currentThread();
    if (seat.isTakenBy(self)) {
      throw new IllegalStateException("a callback must not close its loop");
    }
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    closed = true;
    wakeup();
    if (helper != null && helper.awaitEnd()) {
      self.interrupt();
    }
    if (callersDrive) {
      while (!seat.tryTake(self)) {
        wakeup();
        LockSupport.parkNanos(CLOSE_WAIT_NANOS);
      }
      end();
    }
  }

  /** True after {@link #close()} was called. */
  public final boolean isClosed() {
    return closed;
  }

  /** Ends the loop. The calling thread drives it, and no thread will drive it afterwards. */
  final void end() {
    try {
      round.end();
    } finally {
      ended = true;
      seat.end();
      try {
        round.rejectTasks();
      } finally {
        // Only now, so that a waiting thread finds its call ended.
        seat.wakeAll();
      }
    }
  }

  /** Ends the loop as {@link #close} does, since its helper is about to die. In the helper. */
  final void helperDied() {
    boolean isFirst = closing.compareAndSet(false, true);
    closed = true;
    if (ended) {
      // It died at the end of the loop, and no thread can take the seat again.
      return;
    }
    if (callersDrive && !isFirst) {
      // The thread that closes the loop waits for the helper, and then ends it.
      return;
    }
    Thread self = Thread.currentThread();
    while (!seat.isTakenBy(self) && !seat.tryTake(self)) {
      wakeup();
      LockSupport.parkNanos(CLOSE_WAIT_NANOS);
    }
    end();
  }

  /** Wakes a sleeping helper, which serves the calls without a waiting thread. For any thread. */
  final void wakeHelper() {
    if (helper != null && helper.isIdle() && outstanding() > 0) {
      helper.wake();
    }
  }

  /** Runs one round that waits for no particular completion. In the loop. */
  final void step(long waitNanos) {
    round.run(waitNanos, null, clock.nanoTime());
  }
}
