/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.common.Threads;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes files and directories in a thread of its own, so that Spark's scheduler never waits for
 * the store. Where that fails it is tried again, first after a second and each time after twice as
 * long, {@value #TRIES} times: for more than an hour. What is not deleted then goes with the
 * application.
 *
 * <p>One thread is enough although a namenode that is silent delays the deletions of the others, by
 * a deadline ({@code crail.rpctimeout}) for each try. Only those callers wait for them who ask for
 * it, and those 20 s at most. The queue has a limit, and what is late costs space and no result.
 * Thread-safe.
 */
public final class BackgroundDelete implements AutoCloseable {
  /** Deletes a file that may be missing. */
  @FunctionalInterface
  public interface Remover {
    /** Deletes the file at a path. */
    void remove(String path) throws IOException;
  }

  /** Deletes something that may be missing. */
  @FunctionalInterface
  public interface Deletion {
    /** Deletes it. */
    void run() throws IOException;
  }

  /** Most deletions that wait, for the first time or again. */
  static final int MOST_WAITING = 10_000;

  /** Tries after the first one. */
  static final int TRIES = 12;

  private static final Logger LOG = LoggerFactory.getLogger(BackgroundDelete.class);
  private static final long FIRST_DELAY_MILLIS = 1000;
  private static final long IDLE_SECONDS = 10;
  private static final long WAIT_SECONDS = 20;

  private final Remover remover;
  private final long firstDelayMillis;
  private final ScheduledThreadPoolExecutor thread;

  /** Room for those that wait, and for the one that runs. */
  private final Semaphore room = new Semaphore(MOST_WAITING + 1);

  /** Creates it. The thread starts with the first deletion. */
  public BackgroundDelete(Remover remover) {
    this(remover, FIRST_DELAY_MILLIS);
  }

  /** Creates one that is more patient, or less. */
  BackgroundDelete(Remover remover, long firstDelayMillis) {
    this.remover = remover;
    this.firstDelayMillis = firstDelayMillis;
    this.thread = new ScheduledThreadPoolExecutor(1, Threads.factory("crail-spark-delete"));
    thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Deletes a file soon. Throws nothing: a caller can do no more about it.
   *
   * @param path of the file
   * @param wait whether to wait until it is deleted or has failed once, 20 s at most
   */
  public void delete(String path, boolean wait) {
    try {
      Future<?> deleted = begin(path, () -> remover.remove(path), TRIES, 0);
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

  /**
   * Tries again later what has just failed. Throws nothing.
   *
   * @param name what is deleted
   */
  public void again(String name, Deletion deletion) {
    try {
      begin(name, deletion, TRIES - 1, firstDelayMillis);
    } catch (RejectedExecutionException e) {
      LOG.warn("{} is not deleted; it goes with its application", name);
    }
  }

  private Future<?> begin(String name, Deletion deletion, int tries, long delayMillis) {
    if (!room.tryAcquire()) {
      throw new RejectedExecutionException("too many wait");
    }
    try {
      return schedule(name, deletion, tries, delayMillis);
    } catch (RejectedExecutionException e) {
      room.release();
      throw e;
    }
  }

  private Future<?> schedule(String name, Deletion deletion, int tries, long delayMillis) {
    return thread.schedule(
        () -> run(name, deletion, tries, delayMillis), delayMillis, TimeUnit.MILLISECONDS);
  }

  private void run(String name, Deletion deletion, int tries, long delayMillis) {
    boolean waits = false;
    try {
      deletion.run();
    } catch (IOException e) {
      waits = tries > 0 && tryLater(name, deletion, tries - 1, delayMillis);
      if (!waits) {
        LOG.warn("cannot delete {}; it goes with its application", name, e);
      } else if (tries == TRIES) {
        LOG.warn("cannot delete {} now; trying again", name, e);
      }
    } catch (RuntimeException | Error e) {
      // Often there is no caller that would see it.
      LOG.error("cannot delete {}; it goes with its application", name, e);
    } finally {
      if (!waits) {
        room.release();
      }
    }
  }

  private boolean tryLater(String name, Deletion deletion, int tries, long delayMillis) {
    try {
      schedule(name, deletion, tries, Math.max(firstDelayMillis, 2 * delayMillis));
      return true;
    } catch (RejectedExecutionException e) {
      // The application has ended.
      return false;
    }
  }

  /** Ends the thread. */
  @Override
  public void close() throws InterruptedException {
    thread.shutdownNow();
    thread.awaitTermination(WAIT_SECONDS, TimeUnit.SECONDS);
  }
}
