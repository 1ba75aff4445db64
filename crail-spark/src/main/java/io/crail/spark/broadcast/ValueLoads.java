/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.common.error.ErrorCode;
import io.crail.spark.output.StoreFailure;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Lets one thread of a process load a value while the others that want it wait. Thread-safe. */
public final class ValueLoads {
  /**
   * Loads a value.
   *
   * @param <T> the value
   */
  @FunctionalInterface
  public interface Load<T> {
    /** {@return the value, from a cache if another thread has just loaded it} */
    T run() throws IOException;
  }

  private final Map<String, CompletableFuture<Object>> loads = new ConcurrentHashMap<>();

  /**
   * Runs a load, or waits for the one of another thread and shares its outcome. When that thread is
   * interrupted, one of those that wait takes its place.
   *
   * @param path of the value
   * @param timeout how long to wait for another thread
   * @param load runs in this thread, if no other one has begun
   * @return the value
   * @throws IOException the error of the load; a {@code CrailTimeoutException} when the other
   *     thread takes too long; an {@code InterruptedIOException}, and the interrupt stays set
   */
  @SuppressWarnings("unchecked")
  public <T> T load(String path, Duration timeout, Load<T> load) throws IOException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      CompletableFuture<Object> mine = new CompletableFuture<>();
      CompletableFuture<Object> other = loads.putIfAbsent(path, mine);
      if (other == null) {
        return run(path, mine, load);
      }
      try {
        return (T) other.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (CancellationException e) {
        // The other thread gave up; this one tries.
      } catch (TimeoutException e) {
        throw ErrorCode.TIMED_OUT.exception(
            "another task has been reading " + path + " for " + timeout.toMillis() + " ms");
      } catch (InterruptedException | ExecutionException e) {
        throw StoreFailure.of(e);
      }
    }
  }

  private <T> T run(String path, CompletableFuture<Object> mine, Load<T> load) throws IOException {
    try {
      T value = load.run();
      mine.complete(value);
      return value;
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      mine.completeExceptionally(e);
      throw e;
    } finally {
      loads.remove(path, mine);
      // Does nothing when there is an outcome to share.
      mine.cancel(false);
    }
  }
}
