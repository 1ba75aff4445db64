/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailSpace;
import io.crail.CrailStatistics;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.ClientKeys;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The stores of a process: no user may block them for the others. */
@Timeout(60)
class StoresTest {
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final AtomicInteger opened = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private EmbeddedCrail cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().start();
  }

  @AfterEach
  void stop() throws Exception {
    released.countDown();
    threads.shutdown();
    assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
    cluster.close();
  }

  private CrailStore store() throws Exception {
    opened.incrementAndGet();
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static SparkConf conf(String application, String lease) {
    return new SparkConf(false)
        .set(Stores.APPLICATION_KEY, application)
        .set("spark.crail.application.lease", lease);
  }

  @Test
  void aTaskWaitsForANamenodeThatStartsAgain() {
    SparkConf conf = conf("a", "60s").set("spark.crail.rpctimeout", "7s");
    assertEquals(
        Duration.ofSeconds(7), Stores.configuration(conf).get(ClientKeys.NAMENODE_PATIENCE));
    conf.set("spark.crail.client.namenodepatience", "2s");
    assertEquals(
        Duration.ofSeconds(2), Stores.configuration(conf).get(ClientKeys.NAMENODE_PATIENCE));
  }

  @Test
  void aSlowOpeningHindersOnlyItsOwnApplication() throws Exception {
    Stores stores =
        new Stores(
            settings -> {
              if (settings.get(SparkKeys.LEASE).toSeconds() == 77) {
                asked.countDown();
                released.await();
              }
              return store();
            });
    Future<ApplicationStore> first = threads.submit(() -> stores.of(conf("slow", "77s")));
    asked.await();
    Future<ApplicationStore> second = threads.submit(() -> stores.of(conf("slow", "77s")));
    stores.of(conf("quick", "300s")).close();
    released.countDown();
    assertSame(first.get(), second.get());
    first.get().close();
    second.get().close();
    assertEquals(2, opened.get());
  }

  @Test
  void aSlowEndDelaysNoOther() throws Exception {
    Stores stores =
        new Stores(settings -> opened.getAndIncrement() == 0 ? new SlowStore() : store());
    SparkConf conf = conf("ending", "300s");
    ApplicationStore ending = stores.of(conf);
    Future<?> end =
        threads.submit(
            () -> {
              ending.close();
              return null;
            });
    asked.await();
    try (ApplicationStore next = stores.of(conf)) {
      assertNotSame(ending, next);
      assertFalse(end.isDone());
    }
    released.countDown();
    end.get();
  }

  /** A lease that is not closed would be renewed without end. */
  @Test
  void anEndThatIsInterruptedClosesTheStoreAllTheSame() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    Stores stores =
        new Stores(
            settings ->
                new SlowStore() {
                  @Override
                  public Upcoming<CrailNode> lookup(String path) {
                    asked.countDown();
                    while (released.getCount() > 0) {
                      Thread.onSpinWait();
                    }
                    throw new IllegalStateException("for the test");
                  }

                  @Override
                  public void close() {
                    closed.countDown();
                  }
                });
    final Set<Thread> before = leaseThreads();
    ApplicationStore store = stores.of(conf("interrupted", "300s"));
    Set<Thread> renewing = leaseThreads();
    renewing.removeAll(before);
    assertEquals(1, renewing.size());
    store.held(Duration.ZERO);
    asked.await();
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, store::close);
    assertEquals(0, closed.getCount());
    for (Thread each : renewing) {
      each.join(30_000);
      assertFalse(each.isAlive());
    }
  }

  private static Set<Thread> leaseThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().equals("crail-spark-lease"))
        .collect(Collectors.toSet());
  }

  /** Takes its time to close, and can do nothing else. */
  private class SlowStore extends CrailStore {
    @Override
    public void close() throws Exception {
      asked.countDown();
      released.await();
    }

    private static UnsupportedOperationException unused() {
      return new UnsupportedOperationException();
    }

    @Override
    public Upcoming<CompoundResult> operate(String path, CompoundOperation operation) {
      throw unused();
    }

    @Override
    public Upcoming<StagedBytes> stage(
        String path, CrailBuffer bytes, CrailStorageClass storage, CrailLocationClass location) {
      throw unused();
    }

    @Override
    public boolean settle(String path) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> create(
        String path,
        CrailNodeType type,
        CrailStorageClass storage,
        CrailLocationClass location,
        boolean enumerable) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> create(
        String path,
        CrailNodeType type,
        CrailStorageClass storage,
        CrailLocationClass location,
        boolean enumerable,
        boolean replace,
        int permissions) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> createSpread(
        String path,
        CrailNodeType type,
        CrailStorageClass storage,
        CrailLocationClass location,
        boolean enumerable) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> lookup(String path) {
      throw unused();
    }

    @Override
    public Upcoming<CrailKeyValue> put(
        String path,
        CrailBuffer value,
        CrailStorageClass storage,
        CrailLocationClass location,
        boolean enumerable) {
      throw unused();
    }

    @Override
    public Upcoming<CrailResult> get(String path, CrailBuffer target) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> rename(String source, String target) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> rename(String source, String target, boolean replace) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes) {
      throw unused();
    }

    @Override
    public Upcoming<CrailNode> delete(String path, boolean recursive) {
      throw unused();
    }

    @Override
    public CrailBuffer allocateBuffer() {
      throw unused();
    }

    @Override
    public void freeBuffer(CrailBuffer buffer) {
      throw unused();
    }

    @Override
    public long getBlockSize() {
      throw unused();
    }

    @Override
    public int getBufferSize() {
      throw unused();
    }

    @Override
    public int getSliceSize() {
      throw unused();
    }

    @Override
    public CrailSpace getSpace() {
      throw unused();
    }

    @Override
    public CrailStatistics getStatistics() {
      throw unused();
    }

    @Override
    public CrailLocationClass getLocationClass() {
      throw unused();
    }
  }

  @Test
  void aFailedOpeningLeavesNothing() throws Exception {
    AtomicInteger failures = new AtomicInteger(1);
    Stores stores =
        new Stores(
            settings -> {
              if (failures.getAndDecrement() > 0) {
                throw new IOException("for the test");
              }
              return store();
            });
    SparkConf conf = conf("again", "300s");
    assertThrows(IOException.class, () -> stores.of(conf));
    ApplicationStore first = stores.of(conf);
    first.close();
    ApplicationStore second = stores.of(conf);
    assertNotSame(first, second);
    second.close();
  }
}
