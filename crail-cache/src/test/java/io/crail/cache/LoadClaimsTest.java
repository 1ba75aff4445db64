/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that makers of claims which are gone stop no one, and that no wait is long. */
class LoadClaimsTest {
  private static final Duration HOLD = Duration.ofMinutes(1);
  private static final Duration LONG = Duration.ofHours(10);
  private static final String VALUE = "/cache/slow/blocks/value";

  @TempDir Path directory;
  private CacheCluster cluster;
  private CacheStore crail;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
    crail = cluster.cacheStore(UnaryOperator.identity());
  }

  @AfterEach
  void stop() throws IOException {
    crail.close();
    cluster.close();
  }

  private LoadClaims claims(Duration patience, LongSupplier clockMillis) {
    return new LoadClaims(crail, cluster.names(), patience, clockMillis);
  }

  /** Of a process that looks later. */
  private LoadClaims later() {
    return claims(LONG, () -> System.currentTimeMillis() + 2 * HOLD.toMillis());
  }

  private boolean isThere(String value, int number) {
    return crail.madeMillis(cluster.names().claim(value, number)) != CacheStore.ABSENT;
  }

  @Test
  void workGoesOnAfterTheOneThatDidItIsGone() {
    String work = cluster.names().eviction();
    LoadClaims now = claims(LONG, System::currentTimeMillis);
    assertEquals(Outcome.CLAIMED, now.claimWork(work, HOLD).outcome());
    assertEquals(Outcome.TAKEN, now.claimWork(work, HOLD).outcome());

    Claim next = later().claimWork(work, HOLD);

    assertEquals(Outcome.CLAIMED, next.outcome());
    assertEquals(1, next.number());
    later().end(next);
    Claim again = now.claimWork(work, HOLD);
    assertEquals(Outcome.CLAIMED, again.outcome());
    assertEquals(0, again.number());
  }

  @Test
  void howeverManyAreGone() {
    String work = cluster.names().eviction();
    for (int number = 0; number < 8; number++) {
      assertTrue(crail.claim(cluster.names().claim(work, number)));
    }
    Claim next = later().claimWork(work, HOLD);
    assertEquals(Outcome.CLAIMED, next.outcome());
    later().end(next);
    for (int number = 0; number < 8; number++) {
      assertTrue(!isThere(work, number), "claim " + number);
    }
  }

  @Test
  void whereNoClaimCanBeMadeNoOneWaits() throws Exception {
    try (CrailStore store = cluster.store()) {
      store
          .create(
              "/cache",
              CrailNodeType.DATAFILE,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
    }
    LoadClaims claims = claims(LONG, System::currentTimeMillis);
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> assertEquals(Outcome.UNCLAIMED, claims.claim(VALUE, true, () -> false).outcome()));
  }

  /** For the clock here, that of the namenode is ahead, so that no claim ever becomes old. */
  @Test
  void oneWaitIsNotLongerBecauseThereAreManyClaims() {
    for (int number = 0; number < 8; number++) {
      assertTrue(crail.claim(cluster.names().claim(VALUE, number)));
    }
    LoadClaims claims = claims(Duration.ofSeconds(2), () -> 0);
    long beganNanos = System.nanoTime();
    assertEquals(Outcome.UNCLAIMED, claims.claim(VALUE, true, () -> false).outcome());
    assertTrue(System.nanoTime() - beganNanos < TimeUnit.SECONDS.toNanos(12));
  }

  @Test
  void whoSeesAClaimEndWithoutTheValueLoadsAtOnce() throws Exception {
    LoadClaims claims = claims(LONG, System::currentTimeMillis);
    Claim first = claims.claim(VALUE, true, () -> false);
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<Claim> second =
        CompletableFuture.supplyAsync(
            () ->
                claims.claim(
                    VALUE,
                    true,
                    () -> {
                      waits.countDown();
                      return false;
                    }));
    assertTrue(waits.await(60, TimeUnit.SECONDS));
    claims.end(first);
    assertEquals(Outcome.UNCLAIMED, second.get(60, TimeUnit.SECONDS).outcome());
  }

  @Test
  void aClaimThatCannotBeEndedIsEndedLater() throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    try (CacheStore silent =
        cluster.cacheStore(
            store ->
                new FailingStore(
                    store,
                    (call, number) -> {
                      if (failing.get()) {
                        throw ErrorCode.TIMED_OUT.exception("a fault of the test");
                      }
                    }),
            "crail.cache.backoff",
            "1ms")) {
      LoadClaims claims = new LoadClaims(silent, cluster.names(), LONG, System::currentTimeMillis);
      Claim first = claims.claim(VALUE, true, () -> false);
      assertEquals(Outcome.CLAIMED, first.outcome());
      failing.set(true);
      claims.end(first);
      failing.set(false);
      assertTrue(isThere(VALUE, 0));
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (isThere(VALUE, 0)) {
        assertTrue(System.nanoTime() < deadline, "the claim is still there");
        claims.end(claims.claim(VALUE + "2", true, () -> false));
      }
    }
  }
}
