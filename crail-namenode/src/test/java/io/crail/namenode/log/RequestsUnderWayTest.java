/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a log ends between requests. */
@Timeout(60)
class RequestsUnderWayTest {
  private static final int THREADS = 3;
  private static final int CUTS = 2_000;

  private final RequestsUnderWay requests = new RequestsUnderWay();

  /** A request adds one, and takes it away again. Nearly no cut may see it in between. */
  @Test
  void aCutSeesNoRequestHalfDone() throws Exception {
    AtomicInteger half = new AtomicInteger();
    AtomicLong served = new AtomicLong();
    AtomicBoolean isOver = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    for (int i = 0; i < THREADS; i++) {
      threads.execute(
          () -> {
            while (!isOver.get()) {
              requests.begin();
              half.incrementAndGet();
              served.incrementAndGet();
              half.decrementAndGet();
              requests.end();
            }
          });
    }
    AtomicInteger seen = new AtomicInteger();
    for (int i = 0; i < CUTS; i++) {
      requests.between(() -> seen.addAndGet(half.get() > 0 ? 1 : 0));
    }
    isOver.set(true);
    threads.shutdown();
    assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
    assertTrue(served.get() > 0);
    // A thread that the host does not run for some milliseconds is not waited for.
    assertTrue(seen.get() < CUTS / 20, seen + " of " + CUTS);
  }

  @Test
  void aRequestThatDoesNotEndIsNotWaitedForLong() throws Exception {
    requests.begin();
    AtomicInteger cuts = new AtomicInteger();
    requests.between(cuts::incrementAndGet);
    assertEquals(1, cuts.get());
    requests.end();
  }
}
