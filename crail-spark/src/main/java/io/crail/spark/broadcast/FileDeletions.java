/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes files in a thread of its own, so that Spark's scheduler never waits for the store. What
 * is not deleted here goes with the application. Thread-safe.
 */
public final class FileDeletions implements AutoCloseable {
  /** Deletes a file that may be missing. */
  @FunctionalInterface
  public interface Remover {
    /** Deletes the file at a path. */
    void remove(String path) throws IOException;
  }

  /** Most files that wait. */
  static final int MOST_WAITING = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(FileDeletions.class);
  private static final long IDLE_SECONDS = 10;
  private static final long WAIT_SECONDS = 20;

  private final Remover remover;
  private final ThreadPoolExecutor thread;

  /** Creates it. The thread starts with the first file. */
  public FileDeletions(Remover remover) {
    this.remover = remover;
    this.thread =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            task -> {
              Thread made = new Thread(task, "crail-spark-delete");
              made.setDaemon(true);
              return made;
            });
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Deletes a file soon. Throws nothing: a caller can do no more about it.
   *
   * @param path of the file
   * @param wait whether to wait until it is deleted, 20 s at most
   */
  public void delete(String path, boolean wait) {
    try {
      Future<?> deleted = thread.submit(() -> remove(path));
      if (wait) {
        deleted.get(WAIT_SECONDS, TimeUnit.SECONDS);
      }
    } catch (RejectedExecutionException e) {
      LOG.warn("{} is not deleted now; it goes with its application", path);
    } catch (ExecutionException e) {
      LOG.warn("cannot delete {}; it goes with its application", path, e.getCause());
    } catch (TimeoutException e) {
      LOG.warn("{} is not deleted yet", path);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void remove(String path) {
    try {
      remover.remove(path);
    } catch (IOException e) {
      LOG.warn("cannot delete {}; it goes with its application", path, e);
    }
  }

  /** Ends the thread. */
  @Override
  public void close() throws InterruptedException {
    thread.shutdownNow();
    thread.awaitTermination(WAIT_SECONDS, TimeUnit.SECONDS);
  }
}
