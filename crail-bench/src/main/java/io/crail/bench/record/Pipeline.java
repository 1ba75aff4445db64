/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Keeps a number of operations in flight. It waits for the oldest operation, takes the next ones
 * that have ended too, and issues as many new ones. With a pace it issues only operations whose
 * start time has come. Not thread-safe.
 *
 * @param <T> the result of an operation
 */
public final class Pipeline<T> {
  /**
   * One kind of operation.
   *
   * @param <T> the result
   */
  public interface Operation<T> {
    /** Issues an operation. It may use the resources of {@code slot}, 0 to depth - 1. */
    Future<T> issue(int slot) throws Exception;

    /** Checks the result of an operation and returns the bytes that it moved. */
    long complete(T result, int slot) throws Exception;
  }

  /**
   * Reading the clock costs a tenth of a fast operation. So the clock is read once for up to this
   * many operations that are issued, or found ended, one directly after the other.
   */
  private static final int CLOCK_MASK = 7;

  /** If an operation starts in less than this time, sleeping is no use. */
  private static final long LEAST_SLEEP_NANOS = 200_000;

  private final Operation<T> operation;
  private final List<Future<T>> futures;
  private final long[] startNanos;
  private long issued;
  private long completed;
  private int issueSlot;
  private int completeSlot;

  /** Creates a pipeline of a depth. */
  public Pipeline(int depth, Operation<T> operation) {
    this.operation = operation;
    this.startNanos = new long[depth];
    this.futures = new ArrayList<>(depth);
    for (int slot = 0; slot < depth; slot++) {
      futures.add(null);
    }
  }

  /** Runs {@code count} operations. Afterwards none is in flight, even after a failure. */
  public void run(long count, Recorder recorder) throws Exception {
    issued = 0;
    completed = 0;
    issueSlot = 0;
    completeSlot = 0;
    try {
      while (completed < count) {
        if (recorder.isPaced()) {
          runDue(count, recorder);
        } else {
          runAll(count, recorder);
        }
      }
    } finally {
      while (completed < issued) {
        settle(futures.get(completeSlot));
        next();
      }
    }
    if (recorder.isPaced()) {
      recorder.await(recorder.startNanos(count));
    }
  }

  /** Issues as many operations as there is room for, then takes those that have ended. */
  private void runAll(long count, Recorder recorder) throws Exception {
    long now = 0;
    for (int burst = 0; hasRoom(count); burst++) {
      if ((burst & CLOCK_MASK) == 0) {
        now = recorder.now();
      }
      issue(now);
    }
    take(recorder);
  }

  /** Issues the operations that are due and have room, or takes ended ones, or waits. */
  private void runDue(long count, Recorder recorder) throws Exception {
    long now = recorder.now();
    int burst = 0;
    while (hasRoom(count) && burst <= CLOCK_MASK && recorder.startNanos(issued) - now <= 0) {
      issue(recorder.startNanos(issued));
      burst++;
    }
    if (completed == issued) {
      recorder.await(recorder.startNanos(issued));
    } else if (!hasRoom(count)
        || futures.get(completeSlot).isDone()
        || endsWithin(recorder.startNanos(issued) - now - LEAST_SLEEP_NANOS)) {
      take(recorder);
    } else {
      Thread.onSpinWait();
    }
  }

  private boolean hasRoom(long count) {
    return issued < count && issued - completed < startNanos.length;
  }

  private void issue(long start) throws Exception {
    startNanos[issueSlot] = start;
    futures.set(issueSlot, operation.issue(issueSlot));
    issued++;
    issueSlot = issueSlot + 1 == startNanos.length ? 0 : issueSlot + 1;
  }

  /** Waits for the oldest operation. Takes it, and the next ones that have ended. */
  private void take(Recorder recorder) throws Exception {
    long now = 0;
    int burst = 0;
    do {
      T result = await(futures.get(completeSlot));
      if ((burst++ & CLOCK_MASK) == 0) {
        now = recorder.now();
      }
      int slot = completeSlot;
      long bytes = operation.complete(result, slot);
      next();
      recorder.completed(startNanos[slot], now, bytes);
    } while (completed < issued && futures.get(completeSlot).isDone());
  }

  private void next() {
    completed++;
    completeSlot = completeSlot + 1 == startNanos.length ? 0 : completeSlot + 1;
  }

  /** Whether the oldest operation ends within some time, whether it succeeds or fails. */
  private boolean endsWithin(long nanos) throws InterruptedException {
    if (nanos <= 0) {
      return false;
    }
    try {
      futures.get(completeSlot).get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      // The failure is reported when the operation is taken.
    } catch (TimeoutException e) {
      return false;
    }
    return true;
  }

  /** Waits for an operation. Throws the error of the operation. */
  public static <T> T await(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  /**
   * Waits for the end of an operation after another has failed. The error of the other is reported.
   */
  private static void settle(Future<?> future) throws InterruptedException {
    try {
      future.get();
    } catch (ExecutionException e) {
      // The first failure is thrown.
    }
  }
}
