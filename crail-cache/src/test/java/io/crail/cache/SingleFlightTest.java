/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the source is read once, however many want a block. */
class SingleFlightTest {
  private static final int BLOCK = 64 << 10;
  private static final int BLOCKS = 4;

  @TempDir Path directory;
  private CacheCluster cluster;
  private byte[] content;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 2);
    content = CacheCluster.bytes(BLOCKS * BLOCK, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private static org.apache.hadoop.fs.Path path() {
    return new org.apache.hadoop.fs.Path("crailcache://slow/file");
  }

  private void readAll(CacheFileSystem fs) throws IOException {
    byte[] got = new byte[content.length];
    try (FSDataInputStream in = fs.open(path())) {
      in.readFully(got);
    }
    assertArrayEquals(content, got);
  }

  /** Several threads in each of several file systems that have nothing but Crail in common. */
  private void readTogether(int processes, int threadsEach, String... settings) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(processes * threadsEach);
    CountDownLatch begin = new CountDownLatch(1);
    try {
      List<Future<Void>> readers = new ArrayList<>();
      for (int i = 0; i < processes; i++) {
        CacheFileSystem fs = cluster.open(settings);
        for (int j = 0; j < threadsEach; j++) {
          readers.add(
              threads.submit(
                  () -> {
                    begin.await();
                    readAll(fs);
                    return null;
                  }));
        }
      }
      begin.countDown();
      for (Future<Void> reader : readers) {
        reader.get(120, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void sixtyFourColdReadersMakeOneReadOfEachBlock() throws Exception {
    SlowFileSystem.DELAY_NANOS.set(TimeUnit.MILLISECONDS.toNanos(1));
    readTogether(8, 8);
    assertEquals(content.length, SlowFileSystem.BYTES.get());
  }

  /** A claim of the first block that is left over, as by a process that was killed. */
  private String leaveClaim() throws Exception {
    CacheFileSystem fs = cluster.open();
    fs.getFileStatus(path());
    try (CrailStore store = cluster.store()) {
      String status = store.lookup("/cache/slow/status").get().asContainer().listEntries().next();
      byte[] value = new byte[16 << 10];
      try (var in = store.lookup(status).get().asKeyValue().getBufferedInputStream(value.length)) {
        int length = in.read(value);
        StatusRecord record =
            StatusRecord.decode(
                java.util.Arrays.copyOf(value, length), new org.apache.hadoop.fs.Path("/file"));
        String claim = "/cache/slow/claims/" + record.identity(BLOCK) + "-0-0";
        store
            .create(
                claim,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get();
        return claim;
      }
    }
  }

  @Test
  void theNextOneLoadsWhenTheLoaderDies() throws Exception {
    String claim = leaveClaim();
    readTogether(4, 4, "crail.cache.claim", "4s");
    assertEquals(content.length, SlowFileSystem.BYTES.get());
    try (CrailStore store = cluster.store()) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (store.lookup(claim).get() != null) {
        assertTrue(System.nanoTime() < deadline, "the claim of the dead one is still there");
      }
    }
  }

  @Test
  void whatIsFetchedAheadWaitsForNoOther() throws Exception {
    leaveClaim();
    CacheFileSystem fs = cluster.open("crail.cache.claim", "60m");
    try (FSDataInputStream in = fs.open(path())) {
      byte[] got = new byte[BLOCK];
      in.readFully(BLOCK, got);
      assertFalse(SlowFileSystem.BYTES.get() == 0);
    }
  }

  /** One after the other, sixteen of them would wait for sixteen reads. */
  @Test
  void whoWaitsForAReadThatFailsDoesNotRepeatItInARow() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    fs.getFileStatus(path());
    SlowFileSystem.DELAY_NANOS.set(TimeUnit.MILLISECONDS.toNanos(200));
    SlowFileSystem.FAILING_READS.set(1000);
    ExecutorService threads = Executors.newFixedThreadPool(16);
    long beganNanos = System.nanoTime();
    try {
      List<Future<Boolean>> readers = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        readers.add(threads.submit(() -> fails(fs)));
      }
      for (Future<Boolean> reader : readers) {
        assertTrue(reader.get(120, TimeUnit.SECONDS));
      }
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
    // An open and a read of the first one, and then of all others.
    assertTrue(tookMillis < 3_000, tookMillis + " ms");
  }

  private static boolean fails(CacheFileSystem fs) throws IOException {
    try (FSDataInputStream in = fs.open(path())) {
      in.readFully(0, new byte[BLOCK]);
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void blocksThatAreNotPutBeforeTheCloseLeaveNoClaim() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CacheFileSystem fs =
        cluster.open(
            store ->
                new FailingStore(
                    store,
                    (call, number) -> {
                      if (call.equals("put")) {
                        await(release);
                      }
                    }),
            "crail.cache.timeout",
            "3s",
            "crail.cache.readahead",
            "0");
    try (CrailStore store = cluster.store()) {
      readAll(fs);
      fs.close();
      // The two that are being put have theirs still.
      assertTrue(store.lookup("/cache/slow/claims").get().asContainer().files() <= 2);
    } finally {
      release.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        assertTrue(latch.await(60, TimeUnit.SECONDS));
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
