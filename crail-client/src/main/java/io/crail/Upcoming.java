/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/**
 * The result of an operation that has been issued. A thread that waits for it, or asks {@link
 * #isDone()}, drives the network meanwhile; an operation that nobody waits for goes on by itself.
 *
 * <p>{@link #get()} ends at the deadline of the operation at the latest. {@code get(timeout, unit)}
 * gives up after the caller's time with a {@link java.util.concurrent.TimeoutException}, and the
 * operation goes on. An {@link ExecutionException} has the typed {@code CrailException} as its
 * cause. An operation cannot be cancelled. Thread-safe.
 *
 * @param <T> the result
 */
public interface Upcoming<T> extends Future<T> {
  /**
   * A handle that can be used before the operation has ended. After {@code create}, its methods
   * wait for the answer where they need it, and throw the error of the create if it failed. All
   * other operations have nothing to give early: they wait as {@link #get()} does.
   *
   * @throws Exception the error of the operation, for operations that wait
   */
  T early() throws Exception;

  /** A {@code CompletableFuture} of the same outcome, completed on the common pool. */
  default CompletableFuture<T> toCompletableFuture() {
    return toCompletableFuture(ForkJoinPool.commonPool());
  }

  /**
   * A {@code CompletableFuture} of the same outcome, completed by {@code executor}; so the stages
   * after it may block and use the store. It fails with the typed {@code CrailException}.
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
