/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.cache.CacheStatistics.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no stream has bytes of two versions of a file, and that no block has old ones. */
class VersionsTest {
  private static final int BLOCK = 64 << 10;
  private static final long LONG_AGO = 1_000_000_000_000L;
  private static final org.apache.hadoop.fs.Path FILE =
      new org.apache.hadoop.fs.Path("crailcache://slow/file");

  @TempDir Path directory;
  private CacheCluster cluster;
  private final byte[] content = CacheCluster.bytes(3 * BLOCK, 1);
  private final byte[] later = CacheCluster.bytes(3 * BLOCK, 2);

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  /** Leaves length and time as they were. */
  private static void overwrite(CacheFileSystem fs, byte[] with) throws IOException {
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(with);
    }
    fs.setTimes(FILE, LONG_AGO, -1);
  }

  private static byte[] read(CacheFileSystem fs) throws IOException {
    byte[] got = new byte[3 * BLOCK];
    try (FSDataInputStream in = fs.open(FILE)) {
      in.readFully(0, got);
    }
    return got;
  }

  private static void settle(CacheFileSystem fs, long puts) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (fs.cacheStatistics().count(Counter.PUTS) < puts) {
      assertTrue(System.nanoTime() < deadline, fs.toString());
      Thread.onSpinWait();
    }
  }

  /** The stream of the source that has read the first block reads the next one, too. */
  @Test
  void aFileThatIsChangedWhileItIsReadIsNotReadOn() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    byte[] part = new byte[BLOCK];
    try (FSDataInputStream in = fs.open(FILE)) {
      in.readFully(0, part);
      assertArrayEquals(Arrays.copyOf(content, BLOCK), part);
      Files.write(directory.resolve("file"), later);
      CacheCluster.age(directory.resolve("file"), LONG_AGO + 1);
      assertThrows(SourceChangedException.class, () -> in.readFully(BLOCK, part));
    }
    assertArrayEquals(later, read(fs));
  }

  @Test
  void norIsOneThatIsChangedThroughTheCacheAndHasTheSameLengthAndTime() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    CacheFileSystem writer = cluster.open();
    byte[] part = new byte[BLOCK];
    try (FSDataInputStream in = fs.open(FILE)) {
      in.readFully(0, part);
      overwrite(writer, later);
      assertArrayEquals(later, read(writer));
      assertThrows(SourceChangedException.class, () -> in.readFully(BLOCK, part));
    }
    assertArrayEquals(later, read(fs));
  }

  @Test
  void aBlockWhoseRecordIsGoneIsReadAndNotPut() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    fs.cacheStatistics().reset();
    byte[] part = new byte[BLOCK];
    try (FSDataInputStream in = fs.open(FILE);
        CrailStore store = cluster.store()) {
      in.readFully(0, part);
      settle(fs, 1);
      Iterator<String> records =
          store.lookup("/cache/slow/status").get().asContainer().listEntries();
      store.delete(records.next(), false).get();
      in.readFully(BLOCK, part);
      assertArrayEquals(Arrays.copyOfRange(content, BLOCK, 2 * BLOCK), part);
      fs.close();
      assertEquals(1, store.lookup("/cache/slow/blocks").get().asContainer().files());
    }
  }

  /** The record is read, removed after a change, and only then one is begun in its place. */
  @Test
  void theBlocksOfARecordThatIsRemovedMeanwhileAreNotFoundAgain() throws Exception {
    CacheFileSystem first = cluster.open();
    first.cacheStatistics().reset();
    assertArrayEquals(content, read(first));
    settle(first, 3);
    CacheFileSystem writer = cluster.open();
    AtomicBoolean armed = new AtomicBoolean();
    AtomicReference<IOException> failure = new AtomicReference<>();
    CacheFileSystem fs =
        cluster.open(
            store ->
                new FailingStore(
                    store,
                    (call, number) -> {
                      boolean begins = call.equals("create") || call.equals("operate");
                      if (begins && armed.getAndSet(false)) {
                        try {
                          overwrite(writer, later);
                        } catch (IOException e) {
                          failure.set(e);
                        }
                      }
                    }),
            "crail.cache.statusage",
            "1ms");
    TimeUnit.MILLISECONDS.sleep(2);
    armed.set(true);
    assertArrayEquals(later, read(fs));
    assertEquals(null, failure.get());
  }

  @Test
  void aRecordThatIsTooOldIsFollowedByOneWithTheSameBlocks() throws Exception {
    CacheFileSystem first = cluster.open();
    first.cacheStatistics().reset();
    assertArrayEquals(content, read(first));
    settle(first, 3);
    SlowFileSystem.reset();
    CacheFileSystem fs = cluster.open("crail.cache.statusage", "1ms");
    for (int i = 0; i < 3; i++) {
      TimeUnit.MILLISECONDS.sleep(2);
      assertArrayEquals(content, read(fs));
    }
    assertTrue(SlowFileSystem.STATUSES.get() >= 3);
    assertEquals(0, SlowFileSystem.BYTES.get());
  }

  @Test
  void aFileThatWasChangedJustNowIsReadFromTheSource() throws Exception {
    CacheFileSystem fs = cluster.open();
    fs.cacheStatistics().reset();
    long now = System.currentTimeMillis() + 3_600_000;
    CacheCluster.age(directory.resolve("file"), now);
    for (int i = 0; i < 2; i++) {
      assertArrayEquals(content, read(fs));
    }
    // With the same time.
    Files.write(directory.resolve("file"), later);
    CacheCluster.age(directory.resolve("file"), now);
    assertArrayEquals(later, read(fs));
    assertEquals(0, fs.cacheStatistics().count(Counter.STATUS_HITS));
    assertEquals(0, fs.cacheStatistics().count(Counter.LOADS));
  }

  @Test
  void aFileThatSeemsToBeEmptyIsReadFromTheSource() throws Exception {
    SlowFileSystem.HIDDEN_BYTES.set(content.length);
    CacheFileSystem fs = cluster.open();
    for (int i = 0; i < 2; i++) {
      assertEquals(0, fs.getFileStatus(FILE).getLen());
      assertArrayEquals(content, read(fs));
    }
  }
}
