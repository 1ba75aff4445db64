/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.memory.OffHeapBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.FSDataInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a cache takes of the space, and which blocks it keeps. */
@Tag("once")
class BudgetTest {
  private static final int BLOCK = 128 << 10;

  @TempDir Path directory;
  private CacheCluster cluster;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 2);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private static void read(CacheFileSystem fs, String name) throws IOException {
    try (FSDataInputStream in =
        fs.open(new org.apache.hadoop.fs.Path("crailcache://slow/" + name))) {
      in.readFully(0, new byte[Math.min(in.available(), BLOCK)]);
    }
  }

  private static long taken(CrailStore store) throws Exception {
    long sum = 0;
    CrailNode blocks = store.lookup("/cache/slow/blocks").get();
    if (blocks != null) {
      for (Iterator<CrailNode> each = blocks.asContainer().listStatus(); each.hasNext(); ) {
        sum += CacheContents.takenBytes(each.next().getCapacity());
      }
    }
    return sum;
  }

  /** Waits until all that was loaded is in Crail, or refused. */
  private static void settle(CacheFileSystem fs, long loads) {
    CacheStatistics counts = fs.cacheStatistics();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (counts.count(Counter.PUTS) + counts.count(Counter.REFUSALS) < loads) {
      assertTrue(System.nanoTime() < deadline, counts.toString());
      Thread.onSpinWait();
    }
  }

  @Test
  void aBlockTakesNoMoreThanIsCounted() throws Exception {
    try (CrailStore store = cluster.store()) {
      cluster.open().exists(new org.apache.hadoop.fs.Path("/"));
      store
          .create(
              "/t",
              io.crail.CrailNodeType.TABLE,
              io.crail.CrailStorageClass.DEFAULT,
              io.crail.CrailLocationClass.DEFAULT,
              true)
          .get();
      long before = store.getSpace().usedBytes();
      for (int length :
          new int[] {
            1, 4096, 5000, 65_536, 65_537, 70_000, 100_000, 131_072, 700_000, 1 << 20, 3 << 20
          }) {
        CrailBuffer value = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
        store.put("/t/v" + length, value).get();
        long now = store.getSpace().usedBytes();
        assertTrue(
            now - before <= CacheContents.takenBytes(length),
            length + " bytes take " + (now - before));
        before = now;
      }
    }
  }

  @Test
  void theBudgetHoldsWithFilesOfAllLengths() throws Exception {
    long budget = 20 * BLOCK;
    CacheFileSystem fs =
        cluster.open("crail.cache.blocksize", "128k", "crail.cache.budget", budget + "");
    fs.cacheStatistics().reset();
    Random random = new Random(1);
    try (CrailStore store = cluster.store()) {
      for (int i = 0; i < 120; i++) {
        int length = i % 2 == 0 ? 1 + random.nextInt(4096) : 1 + random.nextInt(BLOCK);
        CacheCluster.writeAged(directory.resolve("f" + i), new byte[length]);
        read(fs, "f" + i);
        settle(fs, i + 1);
        assertTrue(taken(store) <= budget, i + ": " + taken(store));
      }
      assertTrue(taken(store) > budget / 2, "only " + taken(store));
      CacheContents.Source source = CacheContents.list(store, "/cache").get(0);
      assertEquals("slow", source.name());
      assertEquals(120, source.files());
      assertEquals(taken(store), source.bytes());
      assertTrue(CacheContents.drop(store, "/cache", "slow"));
      assertFalse(CacheContents.drop(store, "/cache", "slow"));
      read(fs, "f1");
      assertEquals(0, fs.cacheStatistics().count(Counter.REFUSALS), fs.toString());
    }
  }

  /** Files at random, some far more often than others. */
  @Test
  void hitsAreThoseOfAModelThatKeepsWhatWasUsedLast() throws Exception {
    int files = 60;
    int kept = 20;
    for (int i = 0; i < files; i++) {
      CacheCluster.writeAged(directory.resolve("f" + i), new byte[BLOCK]);
    }
    CacheFileSystem fs =
        cluster.open(
            "crail.cache.blocksize", "128k",
            "crail.cache.memory", "256k",
            "crail.cache.stamp", "0ms",
            "crail.cache.budget", (long) kept * BLOCK + "");
    fs.cacheStatistics().reset();
    long seed = Long.getLong("crail.test.seed", 7);
    Random random = new Random(seed);
    // The cache removes some more than it must, so the model is between what it has then and all.
    Model least = new Model(kept - kept / 8);
    Model most = new Model(kept);
    long loads = 0;
    for (int i = 0; i < 1500; i++) {
      int file = (int) Math.min(files - 1, Math.abs(random.nextGaussian()) * files / 4);
      least.use(file);
      most.use(file);
      read(fs, "f" + file);
      loads = fs.cacheStatistics().count(Counter.LOADS);
      settle(fs, loads);
      // Access times are in milliseconds.
      TimeUnit.MILLISECONDS.sleep(1);
    }
    double hits = 1 - loads / 1500.0;
    assertTrue(
        hits >= least.hits / 1500.0 - 0.02 && hits <= most.hits / 1500.0 + 0.02,
        "hits " + hits + ", model " + least.hits / 1500.0 + " to " + most.hits / 1500.0);
  }

  /** What was used last, exactly. */
  private static final class Model {
    private final Map<Integer, Integer> files = new LinkedHashMap<>(16, 0.75f, true);
    private final int capacity;
    private int hits;

    Model(int capacity) {
      this.capacity = capacity;
    }

    void use(int file) {
      if (files.put(file, file) != null) {
        hits++;
      }
      if (files.size() > capacity) {
        files.remove(files.keySet().iterator().next());
      }
    }
  }

  @Test
  void aClusterThatIsFullIsReadThrough() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.blocksize", "1m", "crail.cache.memory", "8m");
    fs.cacheStatistics().reset();
    long fileBytes = 1 << 20;
    for (int i = 0; i < 150; i++) {
      CacheCluster.writeAged(directory.resolve("f" + i), new byte[(int) fileBytes]);
      try (FSDataInputStream in =
          fs.open(new org.apache.hadoop.fs.Path("crailcache://slow/f" + i))) {
        in.readFully(0, new byte[(int) fileBytes]);
      }
      settle(fs, i + 1);
    }
    try (CrailStore store = cluster.store()) {
      // 128 MiB, of which a fifth is left to others.
      assertTrue(taken(store) <= 103L << 20, taken(store) + "");
      assertTrue(taken(store) > 60L << 20, taken(store) + "");
    }
    assertTrue(fs.cacheStatistics().count(Counter.EVICTIONS) > 0);
  }

  private CacheBudget budget(CacheStore crail, LongSupplier clock, String... settings)
      throws IOException {
    CacheNames names = cluster.names();
    return new CacheBudget(
        crail,
        names,
        new LoadClaims(crail, names, Duration.ofSeconds(5), clock),
        cluster.settings(settings),
        clock,
        new CacheStatistics("test", "slow"));
  }

  @Test
  void afterALookWithoutRoomNoOneLooksForAWhile() throws Exception {
    AtomicLong looks = new AtomicLong();
    AtomicLong now = new AtomicLong(1_000_000_000_000L);
    try (CacheStore crail =
        cluster.cacheStore(
            store ->
                new FailingStore(
                    store,
                    (call, number) -> {
                      if (call.equals("getSpace")) {
                        looks.incrementAndGet();
                      }
                    }))) {
      CacheBudget budget = budget(crail, now::get, "crail.cache.budget", "4k");
      for (int i = 0; i < 50; i++) {
        assertFalse(budget.admits(BLOCK, Long.MAX_VALUE));
      }
      assertEquals(1, looks.get());
      now.addAndGet(1_001);
      assertFalse(budget.admits(BLOCK, Long.MAX_VALUE));
      assertEquals(2, looks.get());
    }
  }

  @Test
  void aLoadThatFindsNoRoomIsNotInTheWayOfReaders() throws Exception {
    String budget = String.valueOf(BLOCK);
    CacheFileSystem fs = cluster.open("crail.cache.blocksize", "128k");
    fs.cacheStatistics().reset();
    CacheCluster.writeAged(directory.resolve("f"), new byte[BLOCK]);
    read(fs, "f");
    settle(fs, 1);
    try (CacheStore crail = cluster.cacheStore(UnaryOperator.identity())) {
      CacheBudget full = budget(crail, System::currentTimeMillis, "crail.cache.budget", budget);
      // A load that began before the block was used does not remove it.
      assertFalse(full.admits(BLOCK, 0));
      assertTrue(full.admits(BLOCK, Long.MAX_VALUE));
    }
  }

  @Test
  void afterALookThatFindsRoomALoadLooksAgainAtOnce() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.blocksize", "128k");
    fs.cacheStatistics().reset();
    CacheCluster.writeAged(directory.resolve("f"), new byte[BLOCK]);
    read(fs, "f");
    settle(fs, 1);
    long now = System.currentTimeMillis();
    try (CacheStore crail = cluster.cacheStore(UnaryOperator.identity())) {
      CacheBudget budget = budget(crail, () -> now, "crail.cache.budget", String.valueOf(BLOCK));
      assertFalse(budget.admits(BLOCK, 0));
      assertTrue(budget.admits(BLOCK, Long.MAX_VALUE));
      // It was not put after all, so all of the budget is left.
      budget.hasBeenPut(BLOCK);
      assertTrue(budget.admits(BLOCK, 0));
    }
  }

  @Test
  void whatIsTooOldIsRemovedWithoutAnEviction() throws Exception {
    AtomicLong ahead = new AtomicLong();
    try (CacheStore crail = cluster.cacheStore(UnaryOperator.identity())) {
      CacheBudget budget = budget(crail, () -> System.currentTimeMillis() + ahead.get());
      String status = cluster.names().statuses() + "/x";
      String claim = cluster.names().claim("/x", 0);
      assertTrue(crail.fill(crail.begin(status, 0), new byte[10]));
      assertTrue(crail.claim(claim));
      budget.tidy();
      assertEquals(10, crail.getSmall(status).length);
      assertTrue(crail.madeMillis(claim) >= 0);
      ahead.addAndGet(TimeUnit.HOURS.toMillis(2));
      budget.tidy();
      assertEquals(10, crail.getSmall(status).length);
      assertEquals(CacheStore.ABSENT, crail.madeMillis(claim));
      ahead.addAndGet(TimeUnit.DAYS.toMillis(2));
      budget.tidy();
      assertNull(crail.getSmall(status));
    }
  }

  @Test
  void oneProcessOfAllRemovesWhatIsTooOld() throws Exception {
    AtomicLong calls = new AtomicLong();
    try (CacheStore crail =
        cluster.cacheStore(
            store -> new FailingStore(store, (call, number) -> calls.incrementAndGet()))) {
      budget(crail, System::currentTimeMillis).tidy();
      long before = calls.get();
      budget(crail, System::currentTimeMillis).tidy();
      assertEquals(before + 1, calls.get(), "it only looks when that was done");
    }
  }
}
