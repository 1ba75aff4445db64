/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A {@link Completion} as its user sees it: one object is the call and the future. A waiting thread
 * drives the loop.
 *
 * @param <T> the result
 */
public interface Awaitable<T> extends Upcoming<T> {
  /**
   * How long a waiter waits past the deadline. The sweep of the loop ends the operation at the
   * deadline; this grace period is for a loop that was closed in between.
   */
  long GRACE_NANOS = 1_000_000_000L;

  /** This as a completion, for the code that ends it. */
  private Completion completion() {
    return (Completion) this;
  }

  /** The loop that completes this. */
  ClientLoop loop();

  /** The time at which this ends at the latest, by the clock of the loop. */
  long deadlineNanos();

  /** The result, once this has succeeded. */
  T result();

  /** Whether a failure means that there is no such thing, so that the result is null. */
  default boolean isAbsence(CrailException failure) {
    return false;
  }

  /** The result; a null {@code failure} means success. */
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
   * Waits for the end even when the thread is interrupted, and sets the interrupt again afterwards.
   * The memory is in use until the end, and its owner uses it again after the return.
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
    Objects.requireNonNull(executor, "executor");
    CompletableFuture<T> future = new CompletableFuture<>();
    Runnable hand =
        () -> {
          try {
            future.complete(outcome(completion().failure()));
          } catch (CrailException | RuntimeException | Error e) {
            future.completeExceptionally(e);
          }
        };
    completion()
        .whenComplete(
            () -> {
              try {
                executor.execute(hand);
              } catch (RuntimeException | Error e) {
                // Whatever the executor refuses with, such as an OutOfMemoryError for a thread.
                future.completeExceptionally(e);
              }
            });
    return future;
  }
}
