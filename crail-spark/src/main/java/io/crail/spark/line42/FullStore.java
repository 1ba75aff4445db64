/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.common.ByteText;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Applications.Application;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes room in a full store, in the driver: Spark removes a shuffle that the program has dropped
 * when a garbage collection has found it. Thread-safe.
 */
final class FullStore {
  private static final Logger LOG = LoggerFactory.getLogger(FullStore.class);

  /** Many tasks find the store full at the same time. */
  private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Spark's cleaner works in a thread of its own. */
  private static final int MOST_POLLS = 100;

  private static final int QUIET_POLLS = 10;
  private static final long POLL_MILLIS = 50;
  private static final int MOST_NAMED = 10;

  private final ApplicationStore application;
  private final IntSupplier shuffles;
  private boolean collected;
  private long collectedNanos;

  /**
   * Creates it.
   *
   * @param shuffles counts the shuffles that are in the store
   */
  FullStore(ApplicationStore application, IntSupplier shuffles) {
    this.application = application;
    this.shuffles = shuffles;
  }

  /**
   * Collects garbage, unless that was done lately, and waits a moment for the removal of shuffles.
   *
   * @return which applications hold how much then, the largest first
   */
  String makeRoom() {
    try {
      collect();
      return application.all().stream()
          .sorted(Comparator.comparingLong(FullStore::bytes).reversed())
          .limit(MOST_NAMED)
          .map(each -> each.id() + " holds " + ByteText.of(bytes(each)))
          .collect(Collectors.joining(", "));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } catch (Exception e) {
      return "who holds it is not known: " + e;
    }
  }

  private static long bytes(Application application) {
    return application.shuffle().plus(application.broadcast()).bytes();
  }

  private synchronized void collect() throws InterruptedException {
    if (collected && System.nanoTime() - collectedNanos < INTERVAL_NANOS) {
      return;
    }
    int before = shuffles.getAsInt();
    LOG.warn("the store is full: the driver collects garbage, to find shuffles that may go");
    System.gc();
    int last = before;
    for (int polls = 0, quiet = 0; polls < MOST_POLLS && quiet < QUIET_POLLS; polls++) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      int now = shuffles.getAsInt();
      quiet = now == last && now < before ? quiet + 1 : 0;
      last = now;
    }
    LOG.warn("{} shuffles are removed, {} are left", Math.max(0, before - last), last);
    collected = true;
    collectedNanos = System.nanoTime();
  }
}
