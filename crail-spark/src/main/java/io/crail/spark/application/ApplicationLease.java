/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.common.Threads;
import io.crail.spark.output.OutputPlace;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the lease of an application, in each of its processes: as long as one of them lives, even
 * while the driver is paused, the application keeps what it has. The lease is the lifetime of each
 * root. When no process has renewed it in time, the namenode of the root removes that with all that
 * is in it. Thread-safe.
 */
final class ApplicationLease implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationLease.class);
  private static final int RENEWALS = 4;
  private static final long CLOSE_SECONDS = 30;

  private final OutputPlace place;
  private final ScheduledExecutorService thread;
  private boolean failing;
  private List<String> present = List.of();

  /**
   * Starts the thread.
   *
   * @param place with the roots, and the lease
   */
  ApplicationLease(OutputPlace place) {
    this.place = place;
    this.thread = Executors.newSingleThreadScheduledExecutor(Threads.factory("crail-spark-lease"));
    long period = Math.max(1, place.lease().toMillis() / RENEWALS);
    thread.scheduleWithFixedDelay(this::renew, period, period, TimeUnit.MILLISECONDS);
  }

  /** Logs the first of several failures. */
  private void renew() {
    try {
      List<String> renewed = place.renewRoots(place.lease().dividedBy(RENEWALS));
      List<String> gone = present.stream().filter(root -> !renewed.contains(root)).toList();
      if (!gone.isEmpty()) {
        LOG.warn(
            "{} are gone: the application has ended, no process has renewed its lease of {} s in"
                + " time, or a namenode was started again",
            gone,
            place.lease().toSeconds());
      }
      present = renewed;
      failing = false;
    } catch (IOException | RuntimeException | Error e) {
      // The thread would never run a task again that has thrown, and say nothing. The end
      // interrupts a renewal, which may call that by any name.
      if (!failing && !thread.isShutdown()) {
        LOG.warn("cannot renew the lease of {}; trying again", place.roots().get(0), e);
      }
      failing = true;
    }
  }

  /** Ends the thread. */
  @Override
  public void close() throws InterruptedException {
    thread.shutdownNow();
    thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
