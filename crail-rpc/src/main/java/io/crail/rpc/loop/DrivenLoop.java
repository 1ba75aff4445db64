/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import io.crail.common.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Networks and the one thread at a time that drives them. No thread owns the loop. A thread that
 * waits for its own operation takes the loop, runs the network until that operation has ended, and
 * leaves the loop to the next waiting thread. So a synchronous call needs no hand-over between
 * threads, which makes it ten times as fast with one operation in flight.
 *
 * <p>A helper thread serves operations that no thread waits for. The helper takes the loop when no
 * thread drives it, and gives it back as soon as a caller asks for it. A transport that must stay
 * with one thread turns caller driving off; then the helper drives all the time.
 *
 * <p>Methods marked <em>in the loop</em> are for the driving thread, others for any thread.
 */
public abstract class DrivenLoop implements AutoCloseable {
  private static final long CLOSE_WAIT_NANOS = 1_000_000;
  private static final long WAITER_CHECK_NANOS = 25_000_000;

  private final String name;
  private final Clock clock;
  private final boolean callersDrive;
  private final boolean spin;
  private final DriverSeat seat;
  private final LoopNetworks networks;
  private final LoopRound round;
  private final LoopHelper helper;
  private final Outstanding outstanding = new Outstanding();
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * Creates a loop.
   *
   * @param name names the helper thread
   * @param callersDrive whether a waiting thread may drive; otherwise only the helper does
   * @param spin whether the driver polls without ever sleeping
   * @param withHelper whether there is a helper thread; a simulation has none
   */
  protected DrivenLoop(
      String name, Clock clock, boolean callersDrive, boolean spin, boolean withHelper) {
    this.name = name;
    this.clock = clock;
    this.callersDrive = callersDrive;
    this.spin = spin;
    this.networks = new LoopNetworks(name, clock, new Own());
    this.round = new LoopRound(name, clock, outstanding, networks);
    // When a driver has left, the helper serves the calls that it has begun.
    this.seat = new DriverSeat(round, callersDrive, this::wakeHelper);
    if (!callersDrive && !withHelper) {
      throw new IllegalArgumentException("no thread would drive the loop");
    }
    this.helper =
        withHelper
            ? new LoopHelper(name, outstanding, seat, round, callersDrive, spin, this::helperDied)
            : null;
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
  public final boolean isStepping() {
    return round.isRunning();
  }

  /**
   * Runs a task in the loop. The calling thread runs it at once when it drives the loop, or when no
   * thread does. Otherwise the driving thread runs it. Tasks of one thread run in their order.
   */
  public final void submit(LoopTask task) {
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
      if (seat.isEnded()) {
        round.rejectTasks();
      }
    }
  }

  /** Counts an operation that has begun; the helper stays awake while there is one. */
  public final void operationBegun() {
    outstanding.operationBegun();
    wakeHelper();
  }

  /** Counts the end of an operation. */
  public final void operationEnded() {
    outstanding.operationEnded();
  }

  /**
   * Counts a call, as {@link #operationBegun}, but at no cost, since only one thread at a time
   * counts here. In the loop.
   */
  public final void callBegun() {
    outstanding.callBegun();
  }

  /** Counts the end of a call. In the loop. */
  public final void callEnded() {
    outstanding.callEnded();
  }

  /** Operations that have begun and not ended. */
  public final long outstanding() {
    return outstanding.count();
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
        if (deadlineNanos - now <= 0 || seat.isEnded()) {
          return completion.isComplete();
        }
        if (callersDrive && !round.isClosed() && seat.tryTake(self)) {
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
      round.run(-1);
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
  public final void refresh() {
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
        && !round.isClosed()
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
    round.close();
    wakeup();
    if (helper != null && helper.awaitEnd()) {
      self.interrupt();
    }
    if (callersDrive) {
      while (!seat.tryTake(self)) {
        wakeup();
        LockSupport.parkNanos(CLOSE_WAIT_NANOS);
      }
      seat.end();
    }
  }

  /** True after {@link #close()} was called. */
  public final boolean isClosed() {
    return round.isClosed();
  }

  /** Ends the loop as {@link #close} does, since its helper is about to die. In the helper. */
  private void helperDied() {
    boolean isFirst = closing.compareAndSet(false, true);
    round.close();
    if (seat.isEnded()) {
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
    seat.end();
  }

  /** Wakes a sleeping helper, which serves the calls without a waiting thread. For any thread. */
  private void wakeHelper() {
    if (helper != null && helper.isIdle() && outstanding.count() > 0) {
      helper.wake();
    }
  }

  /** What the rounds see of this loop. */
  private final class Own implements OwnNetwork {
    @Override
    public void poll(long waitNanos) {
      DrivenLoop.this.poll(waitNanos);
    }

    @Override
    public boolean mayWait() {
      return DrivenLoop.this.mayWait();
    }

    @Override
    public boolean isUsed() {
      return DrivenLoop.this.isUsed();
    }

    @Override
    public void destroy() {
      DrivenLoop.this.destroy();
    }
  }
}
