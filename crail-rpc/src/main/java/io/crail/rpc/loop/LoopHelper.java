/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import io.crail.common.Threads;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A loop's own thread. It drives the loop while operations are outstanding that no caller waits
 * for. It drives all the time if callers may not drive. All methods are for any thread.
 */
final class LoopHelper {
  private static final Logger LOG = LoggerFactory.getLogger(LoopHelper.class);
  private static final long TICK_NANOS = 1_000_000;
  private static final int IDLE_TICKS = 500;

  /** How often in a row it finds that callers drive before it looks more rarely. */
  private static final int DRIVEN_TICKS = 64;

  /** Each look costs a wake-up, and the helpers of many busy loops would cost many. */
  private static final long DRIVEN_TICK_NANOS = 8_000_000;

  private static final long IDLE_WAIT_NANOS = 1_000_000_000;

  /** Failures in a row after which it gives up; a passing lack of memory ends earlier. */
  static final int MOST_FAILURES = 100;

  private static final long FAILURE_WAIT_NANOS = 10_000_000;

  private final String loopName;
  private final Outstanding outstanding;
  private final DriverSeat seat;
  private final LoopRound round;
  private final boolean spin;
  private final Runnable died;
  private final Thread thread;
  private volatile boolean idle;

  // Failed rounds since the last one that did not fail; used by the helper.
  private int failures;

  /**
   * Creates a helper that does not run yet.
   *
   * @param callersDrive whether it only helps callers
   * @param spin whether it never sleeps while something is outstanding and callers may not drive
   * @param died called in its thread when that is about to die of a failure
   */
  LoopHelper(
      String loopName,
      Outstanding outstanding,
      DriverSeat seat,
      LoopRound round,
      boolean callersDrive,
      boolean spin,
      Runnable died) {
    this.loopName = loopName;
    this.outstanding = outstanding;
    this.seat = seat;
    this.round = round;
    this.spin = spin;
    this.died = died;
    Runnable work = callersDrive ? this::help : this::driveAlways;
    this.thread = Threads.daemon("crail-" + loopName, () -> run(work));
  }

  void start() {
    thread.start();
  }

  /** True while the helper sleeps because nothing is outstanding. */
  boolean isIdle() {
    return idle;
  }

  void wake() {
    LockSupport.unpark(thread);
  }

  /**
   * Waits for the end of the helper of a closed loop. Returns true when the caller was interrupted
   * in the meantime.
   */
  boolean awaitEnd() {
    wake();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  private void run(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      // Without this thread, the operations that no caller waits for would never end.
      died.run();
      throw e;
    }
  }

  /** Notes and logs that a round has failed. */
  private void failed(Throwable cause) {
    if (++failures >= MOST_FAILURES) {
      throw new IllegalStateException("loop " + loopName + " fails again and again", cause);
    }
    try {
      LOG.error("loop {} failed", loopName, cause);
    } catch (RuntimeException | Error e) {
      // The next failure may find the memory to log.
    }
  }

  /** Runs the helper where callers drive. */
  private void help() {
    Thread self = Thread.currentThread();
    int idleTicks = 0;
    int drivenTicks = 0;
    long seen = -1;
    while (!round.isClosed()) {
      if (failures > 0) {
        LockSupport.parkNanos(this, FAILURE_WAIT_NANOS);
      }
      boolean isIdle = outstanding.count() == 0 && !round.hasTasks();
      if (isIdle && ++idleTicks > IDLE_TICKS) {
        idle = true;
        if (outstanding.count() == 0 && !round.hasTasks() && !round.isClosed()) {
          LockSupport.parkNanos(this, IDLE_WAIT_NANOS);
        }
        idle = false;
        drivenTicks = 0;
        if (outstanding.count() == 0 && !round.hasTasks() && !round.isClosed()) {
          idleTicks = IDLE_TICKS;
          lookAround(self);
        } else {
          idleTicks = 0;
        }
        continue;
      }
      idleTicks = isIdle ? idleTicks : 0;
      LockSupport.parkNanos(this, drivenTicks < DRIVEN_TICKS ? TICK_NANOS : DRIVEN_TICK_NANOS);
      if (round.rounds() != seen || seat.isTaken()) {
        drivenTicks = Math.min(drivenTicks + 1, DRIVEN_TICKS);
      } else {
        drivenTicks = 0;
        if (!isIdle) {
          helperTurn(self);
        }
      }
      seen = round.rounds();
    }
  }

  /** Lets an idle loop notice lost connections and other changes from outside. */
  private void lookAround(Thread self) {
    if (seat.tryTake(self)) {
      try {
        round.run(-1);
        failures = 0;
      } catch (RuntimeException | Error e) {
        failed(e);
      } finally {
        seat.release();
      }
    }
  }

  /** Drives until nothing is outstanding or a caller asks for the loop. */
  private void helperTurn(Thread self) {
    if (!seat.tryTake(self)) {
      return;
    }
    seat.helperDrives(true);
    try {
      while (!round.isClosed()
          && (outstanding.count() > 0 || round.hasTasks())
          && !seat.isAwaited()) {
        round.run(Sweepable.INTERVAL_NANOS);
        failures = 0;
      }
    } catch (RuntimeException | Error e) {
      failed(e);
    } finally {
      seat.helperDrives(false);
      seat.release();
    }
  }

  /** Runs the helper where no caller may drive. */
  private void driveAlways() {
    seat.take(Thread.currentThread());
    while (!round.isClosed()) {
      try {
        boolean busy = outstanding.count() > 0;
        round.run(busy && spin ? -1 : busy ? Sweepable.INTERVAL_NANOS : IDLE_WAIT_NANOS);
        failures = 0;
      } catch (RuntimeException | Error e) {
        failed(e);
        LockSupport.parkNanos(this, FAILURE_WAIT_NANOS);
      }
    }
    seat.end();
  }
}
