/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no change is forgotten while Crail does not answer. */
class InvalidationsTest {
  @TempDir Path directory;
  private CacheCluster cluster;
  private final AtomicBoolean failing = new AtomicBoolean();

  /** Happens once, when the next node is removed. */
  private final AtomicReference<Runnable> atRemoval = new AtomicReference<>();

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private void before(String call) throws CrailException {
    Runnable once = call.equals("delete") ? atRemoval.getAndSet(null) : null;
    if (once != null) {
      once.run();
    } else if (failing.get()) {
      throw ErrorCode.TIMED_OUT.exception("a fault of the test");
    }
  }

  private CacheStore silentCrail(String pause) throws IOException {
    return cluster.cacheStore(
        store -> new FailingStore(store, (call, number) -> before(call)),
        "crail.cache.backoff",
        pause);
  }

  private Invalidations invalidations(CacheStore crail) {
    return new Invalidations(crail, cluster.names(), new CacheStatistics("test", "slow"));
  }

  private static void awaitFresh(Invalidations invalidations, String name) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (invalidations.isStale(name)) {
      assertTrue(System.nanoTime() < deadline, name + " is still stale");
      Thread.onSpinWait();
    }
  }

  @Test
  void withTooManyAllIsStaleUntilAllIsRemoved() throws Exception {
    try (CacheStore crail = silentCrail("60m")) {
      Invalidations invalidations = invalidations(crail);
      failing.set(true);
      for (int i = 0; i <= 65_536; i++) {
        invalidations.file("/cache/slow/status/" + i);
      }
      assertTrue(invalidations.isStale("/cache/slow/status/65536"));
    }
  }

  @Test
  void whatIsChangedOnceMoreWhileItIsRemovedStaysStale() throws Exception {
    try (CacheStore crail = silentCrail("1ms")) {
      Invalidations invalidations = invalidations(crail);
      String name = "/cache/slow/status/x";
      failing.set(true);
      invalidations.file(name);
      failing.set(false);
      AtomicBoolean changed = new AtomicBoolean();
      atRemoval.set(
          () -> {
            failing.set(true);
            invalidations.file(name);
            failing.set(false);
            changed.set(true);
          });
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!changed.get()) {
        assertTrue(System.nanoTime() < deadline, "it is not removed");
        assertTrue(invalidations.isStale(name));
      }
      awaitFresh(invalidations, name);
    }
  }

  @Test
  void whatIsRememberedIsRemovedWhenCrailAnswers() throws Exception {
    try (CacheStore crail = silentCrail("1ms")) {
      Invalidations invalidations = invalidations(crail);
      failing.set(true);
      for (int i = 0; i < 500; i++) {
        invalidations.file("/cache/slow/status/" + i);
      }
      invalidations.tree("abc");
      assertTrue(invalidations.isStale("/cache/slow/status/abcdef"));
      failing.set(false);
      awaitFresh(invalidations, "/cache/slow/status/abcdef");
      for (int i = 0; i < 500; i++) {
        awaitFresh(invalidations, "/cache/slow/status/" + i);
      }
    }
  }

  @Test
  void onlyWhatIsNotThereCountsAsRemoved() throws Exception {
    try (CacheStore crail = cluster.cacheStore(UnaryOperator.identity())) {
      assertTrue(crail.remove("/cache/slow/status/x"));
      assertTrue(crail.claim(cluster.names().claim("/x", 0)));
      assertTrue(crail.remove("/cache/slow/status/x"));
      assertFalse(crail.remove("/cache/slow"), "it is not empty");
    }
  }
}
