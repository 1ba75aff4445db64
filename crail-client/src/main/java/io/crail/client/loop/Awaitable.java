/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A {@link Completion} as its user sees it: one object is the call and the future. Whoever waits
 * drives the loop.
 *
 * @param <T> the result
 */
public interface Awaitable<T> extends Upcoming<T> {
  /**
   * How long a waiter waits past the deadline. The sweep of the loop ends the operation at the
   * deadline; this is for a loop that was closed meanwhile.
   */
  long GRACE_NANOS = 1_000_000_000L;

  /** This, as what ends it sees it. */
  private Completion completion() {
    return (Completion) this;
  }

  /** The loop that completes this. */
  ClientLoop loop();

  /** When this ends at the latest, by the clock of the loop. */
  long deadlineNanos();

  /** What came out, once this has succeeded. */
  T result();

  /** Whether a failure says that there is nothing, so that null came out. */
  default boolean isAbsence(CrailException failure) {
    return false;
  }

  /** What came out, of a success where {@code failure} is null. */
  private T outcome(CrailException failure) throws CrailException {
    if (failure == null) {
      return result();
    }
    if (isAbsence(failure)) {
      return null;
    }
    throw failure;
  }

  /**
   * Waits for the end.
   *
   * @throws CrailException with the stack of the calling thread
   */
  default T await() throws CrailException, InterruptedException {
    if (!loop().await(completion(), deadlineNanos() + GRACE_NANOS)) {
      throw ErrorCode.TIMED_OUT.exception(toString());
    }
    CrailException failure = completion().failure();
    if (failure == null) {
      return outcome(null);
    }
    try {
      return outcome(failure);
    } catch (CrailException e) {
      throw e.rethrown();
    }
  }

  /**
   * Waits for the end also when the thread is interrupted, which it is told of afterwards: until
   * then the memory is in use, and its owner takes it back with the return.
   */
  default void awaitEnd() throws CrailException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          await();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  default T get() throws InterruptedException, ExecutionException {
    if (!loop().await(completion(), deadlineNanos() + GRACE_NANOS)) {
      throw new ExecutionException(ErrorCode.TIMED_OUT.exception(toString()));
    }
    return ended();
  }

  @Override
  default T get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    long now = loop().clock().nanoTime();
    long nanos = Math.min(unit.toNanos(timeout), Long.MAX_VALUE / 2);
    if (nanos - (deadlineNanos() + GRACE_NANOS - now) >= 0) {
      return get();
    }
    if (!completion().isComplete()
        && (nanos <= 0 ? !isDone() : !loop().await(completion(), now + nanos))) {
      throw new TimeoutException("not done after " + timeout + " " + unit + ": " + this);
    }
    return ended();
  }

  private T ended() throws ExecutionException {
    try {
      return outcome(completion().failure());
    } catch (CrailException e) {
      throw new ExecutionException(e);
    }
  }

  @Override
  default T early() throws Exception {
    return await();
  }

  @Override
  default boolean isDone() {
    if (completion().isComplete()) {
      return true;
    }
    loop().pollOnce();
    return completion().isComplete();
  }

  @Override
  default boolean isCancelled() {
    return false;
  }

  @Override
  default boolean cancel(boolean mayInterruptIfRunning) {
    return false;
  }

  @Override
  default CompletableFuture<T> toCompletableFuture(Executor executor) {
    CompletableFuture<T> future = new CompletableFuture<>();
    Runnable hand =
        () -> {
          try {
            future.complete(outcome(completion().failure()));
          } catch (CrailException e) {
            future.completeExceptionally(e);
          }
        };
    completion()
        .whenComplete(
            () -> {
              try {
                executor.execute(hand);
              } catch (RejectedExecutionException e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }
}
