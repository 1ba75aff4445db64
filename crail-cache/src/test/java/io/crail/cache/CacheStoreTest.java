/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailKeyValue;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests when Crail is asked, and that values follow each other as they should. */
class CacheStoreTest {
  private static final String NAME = "/cache/slow/status/x";

  @TempDir Path directory;
  private CacheCluster cluster;
  private final AtomicBoolean failing = new AtomicBoolean();
  private final AtomicLong calls = new AtomicLong();

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private CacheStore crail(String pause) throws IOException {
    return cluster.cacheStore(
        store ->
            new FailingStore(
                store,
                (call, number) -> {
                  calls.incrementAndGet();
                  if (failing.get()) {
                    throw ErrorCode.TIMED_OUT.exception("a fault of the test");
                  }
                }),
        "crail.cache.backoff",
        pause);
  }

  @Test
  void whileCrailIsLeftAloneNothingIsSent() throws Exception {
    try (CacheStore crail = crail("60m")) {
      CrailKeyValue begun = crail.begin(NAME, 0);
      failing.set(true);
      assertNull(crail.getSmall(NAME));
      failing.set(false);
      long before = calls.get();
      assertFalse(crail.remove(NAME));
      assertFalse(crail.fill(begun, new byte[10]));
      crail.drop(begun);
      assertNull(crail.claim("/cache/slow/claims/x"));
      assertFalse(crail.scan("/cache/slow/status", node -> {}));
      crail.stamp(NAME, 1);
      assertEquals(before, calls.get());
      assertTrue(begun.refresh().getCapacity() == 0, "it was filled");
    }
  }

  /** No one waits for the answer to a stamp, so it does not say that Crail is there. */
  @Test
  void aStampEndsNoOutage() throws Exception {
    try (CacheStore crail = crail("1ms")) {
      crail.begin(NAME, 0);
      failing.set(true);
      assertNull(crail.getSmall(NAME));
      failing.set(false);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!crail.mayAsk()) {
        assertTrue(System.nanoTime() < deadline);
        Thread.onSpinWait();
      }
      long before = calls.get();
      crail.stamp(NAME, 1);
      assertEquals(before, calls.get());
      assertEquals(0, crail.getSmall(NAME).length);
      crail.stamp(NAME, 1);
      assertTrue(calls.get() > before + 1, "after an answer it is sent");
    }
  }

  @Test
  void aValueFollowsTheOneThatWasReadAndNoOther() throws Exception {
    try (CacheStore crail = cluster.cacheStore(UnaryOperator.identity())) {
      assertTrue(crail.fill(crail.begin(NAME, 0), new byte[] {1}));
      assertNull(crail.begin(NAME, 0), "there is one");
      long first = crail.id(NAME);
      CrailKeyValue second = crail.begin(NAME, first);
      assertNull(crail.begin(NAME, first), "another one has followed");
      assertEquals(0, crail.getSmall(NAME).length);
      assertTrue(crail.fill(second, new byte[] {2}));
      assertEquals(2, crail.getSmall(NAME)[0]);
      long id = crail.id(NAME);
      assertTrue(crail.remove(NAME));
      assertNull(crail.begin(NAME, id), "it was removed");
      assertNull(crail.getSmall(NAME));
      assertTrue(crail.fill(crail.begin(NAME, 0), new byte[] {3}));
      assertNull(crail.begin(NAME, id), "another one is in its place");
      CrailKeyValue dropped = crail.begin(NAME, crail.id(NAME));
      assertTrue(crail.remove(NAME));
      assertFalse(crail.fill(dropped, new byte[] {4}));
      assertNull(crail.getSmall(NAME));
    }
  }
}
