/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.load.CacheLoader;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a cache is filled before anyone reads. */
@Tag("once")
class CacheLoaderTest {
  private static final int BLOCK = 64 << 10;

  /** Several pieces, the last of which is no whole block. */
  private static final int LARGE = 150 * BLOCK + 17;

  /** Short, since there is no outage. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private static final org.apache.hadoop.fs.Path ROOT =
      new org.apache.hadoop.fs.Path("crailcache://slow/");

  @TempDir Path directory;
  private final Map<String, String> failures = new ConcurrentSkipListMap<>();
  private CacheCluster cluster;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 2);
    Files.createDirectories(directory.resolve("a/b/empty"));
    write("large", LARGE, 1);
    write("a/small", 100, 2);
    write("a/nothing", 0, 3);
    write("a/b/block", BLOCK, 4);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private void write(String name, int length, int seed) throws IOException {
    CacheCluster.writeAged(directory.resolve(name), CacheCluster.bytes(length, seed));
  }

  private CacheLoader loader(CacheFileSystem fs) {
    return loader(fs, PATIENCE);
  }

  private CacheLoader loader(CacheFileSystem fs, Duration patience) {
    return new CacheLoader(
        fs,
        4,
        patience,
        (path, cause) -> failures.merge(path.getName(), cause.toString(), String::concat));
  }

  private static byte[] read(CacheFileSystem fs, String name, int length) throws IOException {
    byte[] bytes = new byte[length];
    try (FSDataInputStream in = fs.open(new org.apache.hadoop.fs.Path(ROOT, name))) {
      in.readFully(0, bytes);
    }
    return bytes;
  }

  private static void assertAll(CacheFileSystem fs) throws IOException {
    assertArrayEquals(CacheCluster.bytes(LARGE, 1), read(fs, "large", LARGE));
    assertArrayEquals(CacheCluster.bytes(100, 2), read(fs, "a/small", 100));
    assertArrayEquals(CacheCluster.bytes(BLOCK, 4), read(fs, "a/b/block", BLOCK));
  }

  @Test
  void whatWasLoadedIsNotAskedOfTheSource() throws Exception {
    CacheLoader loader = loader(cluster.open());
    loader.load(ROOT, () -> {});
    assertEquals(Map.of(), failures);
    assertEquals(4, loader.files());
    assertEquals(LARGE + 100 + BLOCK, loader.bytes());
    assertEquals(LARGE + 100 + BLOCK, loader.sourceBytes());
    assertEquals(LARGE + 100 + BLOCK, SlowFileSystem.BYTES.get());
    long statuses = SlowFileSystem.STATUSES.get();
    CacheFileSystem reader = cluster.open();
    assertAll(reader);
    assertEquals(LARGE + 100 + BLOCK, SlowFileSystem.BYTES.get());
    assertEquals(statuses, SlowFileSystem.STATUSES.get());
    assertEquals(0, SlowFileSystem.STREAMS.get());

    CacheLoader again = loader(cluster.open());
    again.load(ROOT, () -> {});
    assertEquals(4, again.files());
    assertEquals(0, again.sourceBytes());
  }

  @Test
  void severalProcessesReadEachByteOnce() throws Exception {
    CacheLoader[] loaders = new CacheLoader[3];
    CompletableFuture<?>[] ends = new CompletableFuture<?>[loaders.length];
    for (int i = 0; i < loaders.length; i++) {
      CacheLoader loader = loader(cluster.open());
      loaders[i] = loader;
      ends[i] =
          CompletableFuture.runAsync(
              () -> {
                try {
                  loader.load(ROOT, () -> {});
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              },
              work -> new Thread(work).start());
    }
    CompletableFuture.allOf(ends).get(120, TimeUnit.SECONDS);
    assertEquals(Map.of(), failures);
    assertEquals(LARGE + 100 + BLOCK, SlowFileSystem.BYTES.get());
    long sum = 0;
    for (CacheLoader each : loaders) {
      sum += each.sourceBytes();
    }
    assertEquals(LARGE + 100 + BLOCK, sum);
  }

  @Test
  void aFileThatFailsDoesNotKeepTheOthers() throws Exception {
    Path changed = Files.writeString(directory.resolve("a/new"), "changed just now");
    // A file is not cached until two seconds after its change, however long this test takes.
    Files.setLastModifiedTime(changed, FileTime.from(Instant.now().plusSeconds(3600)));
    CacheFileSystem fs = cluster.open();
    CacheLoader loader = loader(fs);
    loader.load(ROOT, () -> {});
    assertEquals(4, loader.files());
    assertEquals(1, loader.failed());
    assertTrue(failures.get("new").contains("later than now"), failures::toString);
    assertAll(fs);
  }

  @Test
  void anErrorOfTheSourceIsNotCached() throws Exception {
    SlowFileSystem.FAILING_READS.set(1);
    CacheFileSystem fs = cluster.open();
    CacheLoader loader = loader(fs);
    loader.load(ROOT, () -> {});
    assertEquals(3, loader.files());
    assertEquals(1, failures.size(), failures::toString);
    assertTrue(failures.toString().contains("the source fails"), failures::toString);
    assertAll(fs);
    CacheLoader again = loader(fs);
    again.load(ROOT, () -> {});
    assertEquals(4, again.files());
  }

  @Test
  void anOutageThatEndsFailsNothing() throws Exception {
    AtomicLong failing = new AtomicLong(5);
    CacheFileSystem fs =
        cluster.open(
            store ->
                new FailingStore(
                    store,
                    (call, number) -> {
                      if (number > 10 && failing.getAndDecrement() > 0) {
                        throw ErrorCode.UNAVAILABLE.exception("a fault of the test");
                      }
                    }));
    CacheLoader loader = loader(fs, Duration.ofSeconds(60));
    loader.load(ROOT, () -> {});
    assertEquals(Map.of(), failures);
    assertEquals(4, loader.files());
    assertTrue(failing.get() <= 0, "there was no outage");
    assertAll(fs);
  }

  @Test
  void aPathThatIsNotThereFails() throws Exception {
    CacheLoader loader = loader(cluster.open());
    loader.load(new org.apache.hadoop.fs.Path(ROOT, "none"), () -> {});
    assertEquals(1, loader.failed());
    assertTrue(failures.get("none").contains("FileNotFoundException"), failures::toString);
  }

  @Test
  void whatHasNoRoomIsSaidAndTheBudgetHolds() throws Exception {
    long budget = 20L * BLOCK;
    // Of this name; that of all would have room.
    CacheFileSystem fs = cluster.open("crail.cache.budget.slow", budget + "");
    fs.cacheStatistics().reset();
    // What was there before makes room, and what this load has loaded does not.
    write("old", 15 * BLOCK, 5);
    loader(fs).load(new org.apache.hadoop.fs.Path(ROOT, "old"), () -> {});
    CacheLoader loader = loader(fs);
    loader.load(new org.apache.hadoop.fs.Path(ROOT, "large"), () -> {});
    assertEquals(0, loader.files());
    assertTrue(failures.get("large").contains("no room"), failures::toString);
    assertTrue(failures.toString().contains("Crail has taken nothing"), failures::toString);
    long evicted = fs.cacheStatistics().count(Counter.EVICTIONS);
    assertTrue(evicted > 0 && evicted <= 15, "evicted " + evicted);
    try (CrailStore store = cluster.store()) {
      long taken = CacheContents.list(store, "/cache").get(0).bytes();
      assertTrue(taken <= budget && taken > budget / 2, "taken " + taken);
    }

    CacheFileSystem none = cluster.open("crail.cache.budget.slow", "4k");
    CacheLoader refused = loader(none);
    refused.load(new org.apache.hadoop.fs.Path(ROOT, "large"), () -> {});
    assertEquals(0, refused.files());
    assertTrue(failures.get("large").contains("no room"), failures::toString);
  }

  @Test
  void aBudgetOfANameIsNamedIfItIsNone() {
    IOException error =
        assertThrows(IOException.class, () -> cluster.open("crail.cache.budget.slow", "lots"));
    assertTrue(error.getMessage().contains("'crail.cache.budget.slow'"), error.getMessage());
  }

  @Test
  void withoutCrailNothingIsLoadedAndItEnds() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.timeout", "200ms");
    cluster.crail().close();
    CacheLoader loader = loader(fs);
    loader.load(ROOT, () -> {});
    assertEquals(0, loader.files());
    assertTrue(loader.failed() >= 2, failures::toString);
    assertTrue(failures.toString().contains("Crail does not answer"), failures::toString);
    assertTrue(failures.toString().contains("the rest is not loaded"), failures::toString);
  }
}
