/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/**
 * The result of an operation that was issued. A thread that waits for the result, or calls {@link
 * #isDone()}, drives the network meanwhile. An operation that no thread waits for proceeds by
 * itself.
 *
 * <p>{@link #get()} ends at the deadline of the operation at the latest. {@code get(timeout, unit)}
 * gives up after the caller's time with a {@link java.util.concurrent.TimeoutException}, and the
 * operation proceeds. An {@link ExecutionException} has the typed {@code CrailException} as its
 * cause. An operation cannot be cancelled. Thread-safe.
 *
 * @param <T> the result
 */
public interface Upcoming<T> extends Future<T> {
  /**
   * Returns a handle that can be used before the operation has ended. After {@code create}, the
   * methods of the handle wait for the answer when they need it, and throw the error of a failed
   * create. For all other operations this method waits as {@link #get()} does.
   *
   * @return the handle
   * @throws Exception the error of the operation, for operations that wait
   */
  T early() throws Exception;

  /** {@return a {@code CompletableFuture} of the same outcome, completed on the common pool} */
  default CompletableFuture<T> toCompletableFuture() {
    return toCompletableFuture(ForkJoinPool.commonPool());
  }

  /**
   * Returns a {@code CompletableFuture} of the same outcome, completed by {@code executor}. So the
   * stages after it may block and use the store. It fails with the typed {@code CrailException}, or
   * with what {@code executor} throws when it does not take the task.
   *
   * @param executor runs the wait for the outcome
   * @return the future
   */
  default CompletableFuture<T> toCompletableFuture(Executor executor) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return get();
          } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException(e);
          }
        },
        executor);
  }
}
