/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailAttributeChanges;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Threads;
import io.crail.common.error.NodeNotFoundException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the lease of an application, in each of its processes: as long as one of them lives, even
 * while the driver is paused, the application keeps what it has. A renewal sets the access time of
 * each root. When no process has renewed for the time of the lease, any other may delete the roots;
 * see {@link RootCleaner}. The driver cleans up as often, in another thread: that may wait long for
 * a namenode with nothing of this application. Thread-safe.
 */
final class ApplicationLease implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationLease.class);
  private static final int RENEWALS = 4;
  private static final long CLOSE_SECONDS = 30;

  private final CrailStore store;
  private final List<String> roots;
  private final ScheduledExecutorService threads;

  /** What is done again and again. */
  @FunctionalInterface
  interface Step {
    /** Does it. */
    void run() throws Exception;
  }

  /**
   * Starts the threads.
   *
   * @param lease how long the application lives without a renewal
   * @param cleaner deletes what dead applications left; empty in executors
   */
  ApplicationLease(CrailStore store, List<String> roots, Duration lease, Optional<Step> cleaner) {
    this.store = store;
    this.roots = roots;
    // A task never runs twice at a time, so there is always a thread for the other one.
    this.threads =
        Executors.newScheduledThreadPool(
            cleaner.isPresent() ? 2 : 1, Threads.factory("crail-spark-lease"));
    long period = Math.max(1, lease.toMillis() / RENEWALS);
    String root = roots.get(0);
    schedule(new Repeated("renew the lease of " + root, this::renew), period);
    cleaner.ifPresent(step -> schedule(new Repeated("clean up beside " + root, step), period));
  }

  private void schedule(Repeated task, long period) {
    threads.scheduleWithFixedDelay(task, period, period, TimeUnit.MILLISECONDS);
  }

  /** A step that logs the first of several failures. Used by one thread at a time. */
  private final class Repeated implements Runnable {
    private final String what;
    private final Step step;
    private boolean failing;

    Repeated(String what, Step step) {
      this.what = what;
      this.step = step;
    }

    @Override
    public void run() {
      try {
        step.run();
        failing = false;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception | Error e) {
        // The threads would never run a step again that has thrown, and say nothing. The end
        // interrupts a step, which may call that by any name.
        if (!failing && !threads.isShutdown()) {
          LOG.warn("cannot {}; trying again", what, e);
        }
        failing = true;
      }
    }
  }

  /**
   * Renews the lease, at every namenode that answers. A root that is not there needs none: the
   * driver makes it again when it is needed.
   *
   * @throws ExecutionException the error of the first root whose lease could not be renewed
   */
  void renew() throws Exception {
    long now = System.currentTimeMillis();
    List<Upcoming<CrailNode>> renewals = new ArrayList<>();
    for (String root : roots) {
      renewals.add(store.setAttributes(root, CrailAttributeChanges.ofTimes(null, now)));
    }
    ExecutionException failure = null;
    for (Upcoming<CrailNode> renewal : renewals) {
      try {
        renewal.get();
      } catch (ExecutionException e) {
        if (failure == null && !(e.getCause() instanceof NodeNotFoundException)) {
          failure = e;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Ends the threads. */
  @Override
  public void close() throws InterruptedException {
    threads.shutdownNow();
    threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
