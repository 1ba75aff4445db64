/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.cache.CacheStatistics.Counter;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no read fails when servers of Crail do. */
class OutageTest {
  private static final int BLOCK = 64 << 10;
  private static final int READERS = 4;

  private static final String[] IMPATIENT = {
    "crail.cache.timeout", "300ms", "crail.cache.backoff", "100ms", "crail.cache.claim", "300ms"
  };

  @TempDir Path directory;
  private byte[] content;

  @BeforeEach
  void write() throws IOException {
    content = CacheCluster.bytes(32 * BLOCK, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
  }

  private static org.apache.hadoop.fs.Path path() {
    return new org.apache.hadoop.fs.Path("crailcache://slow/file");
  }

  /** A step that ends servers. */
  private interface Fault {
    void happen() throws Exception;
  }

  /** Reads in many threads while servers end, and checks each byte. */
  private void readDuring(CacheCluster cluster, Fault fault) throws Exception {
    CacheFileSystem fs = cluster.open(IMPATIENT);
    // What is in Crail when the servers end.
    readAll(fs);
    AtomicBoolean ended = new AtomicBoolean();
    AtomicLong reads = new AtomicLong();
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      List<Future<Void>> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        Random random = new Random(i);
        readers.add(
            threads.submit(
                () -> {
                  while (!ended.get()) {
                    readSome(fs, random);
                    reads.incrementAndGet();
                  }
                  return null;
                }));
      }
      awaitMore(reads, 20);
      fault.happen();
      awaitMore(reads, 200);
      ended.set(true);
      for (Future<Void> reader : readers) {
        reader.get(60, TimeUnit.SECONDS);
      }
    } finally {
      ended.set(true);
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
    readAll(fs);
  }

  private static void awaitMore(AtomicLong reads, int count) {
    long until = reads.get() + count;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
    while (reads.get() < until) {
      assertTrue(System.nanoTime() < deadline, "readers stand still at " + reads);
      Thread.onSpinWait();
    }
  }

  private void readAll(CacheFileSystem fs) throws IOException {
    byte[] got = new byte[content.length];
    try (FSDataInputStream in = fs.open(path())) {
      in.readFully(got);
    }
    assertArrayEquals(content, got);
  }

  private void readSome(CacheFileSystem fs, Random random) throws IOException {
    try (FSDataInputStream in = fs.open(path())) {
      for (int i = 0; i < 5; i++) {
        int from = random.nextInt(content.length - 2 * BLOCK);
        byte[] got = new byte[1 + random.nextInt(2 * BLOCK)];
        in.readFully(from, got);
        assertArrayEquals(Arrays.copyOfRange(content, from, from + got.length), got);
      }
    }
  }

  @Test
  void noReadFailsWhenADatanodeEnds() throws Exception {
    try (CacheCluster cluster = new CacheCluster(directory, 1)) {
      readDuring(cluster, () -> cluster.crail().stopDatanode(0));
    }
  }

  @Test
  void noReadFailsWhenANamenodeForgetsAll() throws Exception {
    try (CacheCluster cluster = new CacheCluster(directory, 2)) {
      readDuring(cluster, () -> cluster.crail().restartNamenode(0));
      readDuring(cluster, () -> cluster.crail().restartNamenode(1));
    }
  }

  @Test
  void noReadFailsWhenTheClusterEnds() throws Exception {
    try (CacheCluster cluster = new CacheCluster(directory, 2)) {
      readDuring(cluster, () -> cluster.crail().close());
    }
  }

  @Test
  void aClusterThatIsNotThereCostsTimeOnce() throws Exception {
    try (CacheCluster cluster = new CacheCluster(directory, 1)) {
      cluster.crail().close();
      CacheFileSystem fs = cluster.open("crail.cache.backoff", "60m");
      long before = fs.cacheStatistics().count(Counter.FAILURES);
      for (int i = 0; i < 50; i++) {
        readAll(fs);
      }
      assertEquals(1, fs.cacheStatistics().count(Counter.FAILURES) - before);
      try (FSDataOutputStream out = fs.create(path(), true)) {
        out.write(content);
      }
      assertTrue(fs.delete(path(), false));
    }
  }

  /** A cold read, a warm one, and a change, with one call of Crail that fails. */
  private boolean hasFailedAt(CacheCluster cluster, int call, ErrorCode error) throws Exception {
    FailingStore[] failing = new FailingStore[1];
    CacheFileSystem fs =
        new CacheFileSystem() {
          @Override
          CacheStore openStore(CacheNames names, CacheSettings with, CacheStatistics counts)
              throws IOException {
            try {
              failing[0] = new FailingStore(cluster.store(), call, error);
            } catch (Exception e) {
              throw new IOException(e);
            }
            return new CacheStore(failing[0], names, with, counts);
          }
        };
    fs.initialize(
        URI.create("crailcache://slow/"),
        cluster.configuration(
            "crail.cache.root", "/cache-" + error.number() + "-" + call,
            "crail.cache.claim", "20ms",
            "crail.cache.backoff", "1ms"));
    try (CacheFileSystem closed = fs) {
      for (int round = 0; round < 3; round++) {
        byte[] got = new byte[2 * BLOCK];
        try (FSDataInputStream in = fs.open(path())) {
          in.readFully(BLOCK / 2, got);
        }
        assertArrayEquals(Arrays.copyOfRange(content, BLOCK / 2, BLOCK / 2 + got.length), got);
        assertEquals(content.length, fs.getFileStatus(path()).getLen());
        fs.setTimes(path(), 1_000_000_000_000L + round, -1);
      }
    }
    return failing[0].calls() > call;
  }

  @Test
  void noReadFailsWhichCallEverFails() throws Exception {
    try (CacheCluster cluster = new CacheCluster(directory, 1)) {
      for (ErrorCode error : new ErrorCode[] {ErrorCode.TIMED_OUT, ErrorCode.STALE_NODE}) {
        int call = 0;
        while (hasFailedAt(cluster, call, error)) {
          call++;
        }
        assertTrue(call > 20, "only " + call + " calls");
      }
    }
  }
}
