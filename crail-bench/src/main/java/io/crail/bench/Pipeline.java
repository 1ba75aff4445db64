/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Keeps a number of operations in flight: waits for the oldest, takes those behind it that have
 * ended too, and issues as many anew. Not thread-safe.
 *
 * @param <T> what an operation gives
 */
final class Pipeline<T> {
  /**
   * One kind of operation.
   *
   * @param <T> what it gives
   */
  interface Operation<T> {
    /** Issues an operation that may use what belongs to {@code slot}, 0 to depth - 1. */
    Future<T> issue(int slot) throws Exception;

    /** Checks what an operation gave and returns the bytes that it moved. */
    long complete(T result, int slot) throws Exception;
  }

  /**
   * Reading the clock costs a tenth of a fast operation; so it is read once for up to this many
   * operations that are issued, or found ended, back to back.
   */
  private static final int CLOCK_MASK = 7;

  private final Operation<T> operation;
  private final List<Future<T>> futures;
  private final long[] issuedNanos;

  /** Creates a pipeline of a depth. */
  Pipeline(int depth, Operation<T> operation) {
    this.operation = operation;
    this.issuedNanos = new long[depth];
    this.futures = new ArrayList<>(depth);
    for (int slot = 0; slot < depth; slot++) {
      futures.add(null);
    }
  }

  /** Does {@code count} operations; none is in flight afterwards, also after a failure. */
  void run(long count, Recorder recorder) throws Exception {
    int depth = issuedNanos.length;
    long issued = 0;
    long completed = 0;
    int issueSlot = 0;
    int completeSlot = 0;
    try {
      while (completed < count) {
        long now = 0;
        for (int burst = 0; issued < count && issued - completed < depth; burst++) {
          if ((burst & CLOCK_MASK) == 0) {
            now = recorder.now();
          }
          issuedNanos[issueSlot] = now;
          futures.set(issueSlot, operation.issue(issueSlot));
          issued++;
          issueSlot = issueSlot + 1 == depth ? 0 : issueSlot + 1;
        }
        int burst = 0;
        do {
          T result = await(futures.get(completeSlot));
          if ((burst++ & CLOCK_MASK) == 0) {
            now = recorder.now();
          }
          long bytes = operation.complete(result, completeSlot);
          recorder.operation(issuedNanos[completeSlot], now, bytes);
          completed++;
          completeSlot = completeSlot + 1 == depth ? 0 : completeSlot + 1;
        } while (completed < issued && futures.get(completeSlot).isDone());
      }
    } finally {
      while (completed < issued) {
        settle(futures.get(completeSlot));
        completed++;
        completeSlot = completeSlot + 1 == depth ? 0 : completeSlot + 1;
      }
    }
  }

  /** Waits for an operation and throws what it failed with. */
  static <T> T await(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** Waits for the end of an operation behind one that has failed; that one's error is told. */
  private static void settle(Future<?> future) throws InterruptedException {
    try {
      future.get();
    } catch (ExecutionException e) {
      // The first failure is the one that is thrown.
    }
  }
}
