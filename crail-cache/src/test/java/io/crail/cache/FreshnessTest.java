/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.cache.CacheStatistics.Counter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no reader gets old bytes, or bytes of two files, and that no error is cached. */
class FreshnessTest {
  private static final int BLOCK = 64 << 10;
  private static final long LONG_AGO = 1_000_000_000_000L;

  @TempDir Path directory;
  private CacheCluster cluster;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path("crailcache://slow/" + name);
  }

  private static byte[] read(FileSystem fs, String name) throws IOException {
    byte[] content = new byte[(int) fs.getFileStatus(path(name)).getLen()];
    try (FSDataInputStream in = fs.open(path(name))) {
      in.readFully(content);
    }
    return content;
  }

  private static void write(FileSystem fs, String name, byte[] content) throws IOException {
    try (FSDataOutputStream out = fs.create(path(name), true)) {
      out.write(content);
    }
  }

  @Test
  void anOverwriteWithTheSameLengthAndTimeIsSeenByAll() throws IOException {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    for (int round = 0; round < 20; round++) {
      byte[] content = CacheCluster.bytes(2 * BLOCK, round);
      write(writer, "file", content);
      writer.setTimes(path("file"), LONG_AGO, -1);
      assertArrayEquals(content, read(reader, "file"), "round " + round);
      assertArrayEquals(content, read(reader, "file"), "round " + round);
    }
  }

  @Test
  void anOverwriteByOthersIsSeenWhenTheStatusIsOld() throws Exception {
    byte[] old = CacheCluster.bytes(2 * BLOCK, 1);
    byte[] later = CacheCluster.bytes(2 * BLOCK, 2);
    CacheCluster.writeAged(directory.resolve("file"), old);
    CacheFileSystem fs = cluster.open("crail.cache.statusage", "200ms");
    assertArrayEquals(old, read(fs, "file"));
    Files.write(directory.resolve("file"), later);
    CacheCluster.age(directory.resolve("file"), LONG_AGO + 1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    byte[] got;
    do {
      assertTrue(System.nanoTime() < deadline, "the old file is still there");
      got = readAgain(fs, "file");
    } while (got == null || got[0] == old[0] && got[1] == old[1]);
    assertArrayEquals(later, got);
  }

  /** Null if the file has changed meanwhile. */
  private static byte[] readAgain(FileSystem fs, String name) throws IOException {
    try {
      return read(fs, name);
    } catch (SourceChangedException e) {
      return null;
    }
  }

  @Test
  void aFileThatMayChangeInTheSameMomentIsReadAgainWhenItsStatusIsOld() throws Exception {
    byte[] old = CacheCluster.bytes(BLOCK, 1);
    byte[] later = CacheCluster.bytes(BLOCK, 2);
    Files.write(directory.resolve("file"), old);
    long moment = Files.getLastModifiedTime(directory.resolve("file")).toMillis();
    CacheFileSystem fs = cluster.open("crail.cache.statusage", "300ms");
    assertArrayEquals(old, read(fs, "file"));
    Files.write(directory.resolve("file"), later);
    CacheCluster.age(directory.resolve("file"), moment);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!java.util.Arrays.equals(later, read(fs, "file"))) {
      assertTrue(System.nanoTime() < deadline, "the old block is still there");
    }
  }

  @Test
  void anotherMarkIsAnotherFile() throws Exception {
    byte[] old = CacheCluster.bytes(BLOCK, 1);
    byte[] later = CacheCluster.bytes(BLOCK, 2);
    SlowFileSystem.ETAG.set(1);
    CacheCluster.writeAged(directory.resolve("file"), old);
    CacheFileSystem fs = cluster.open("crail.cache.statusage", "1ms");
    assertArrayEquals(old, read(fs, "file"));
    CacheCluster.writeAged(directory.resolve("file"), later);
    SlowFileSystem.ETAG.set(2);
    TimeUnit.MILLISECONDS.sleep(2);
    assertArrayEquals(later, read(fs, "file"));
  }

  @Test
  void blocksOutliveTheStatus() throws Exception {
    byte[] content = CacheCluster.bytes(2 * BLOCK, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem fs = cluster.open("crail.cache.statusage", "1ms");
    assertArrayEquals(content, read(fs, "file"));
    fs.close();
    TimeUnit.MILLISECONDS.sleep(2);
    SlowFileSystem.reset();
    assertArrayEquals(content, read(cluster.open("crail.cache.statusage", "1ms"), "file"));
    assertTrue(SlowFileSystem.STATUSES.get() > 0);
    assertEquals(0, SlowFileSystem.BYTES.get());
  }

  @Test
  void anOpenAfterACloseSeesAll() throws IOException {
    SlowFileSystem.OLDER_MILLIS.set(10_000);
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    write(writer, "file", new byte[10]);
    assertEquals(10, read(reader, "file").length);
    try (FSDataOutputStream out = writer.append(path("file"))) {
      out.write(new byte[10]);
      out.hsync();
      assertEquals(20, reader.getFileStatus(path("file")).getLen());
      out.write(new byte[BLOCK]);
    }
    assertEquals(20 + BLOCK, read(reader, "file").length);
    try (FSDataOutputStream out = writer.createFile(path("file")).overwrite(true).build()) {
      out.write(5);
    }
    assertArrayEquals(new byte[] {5}, read(reader, "file"));
  }

  @Test
  void whatAWriterChangesIsSeenByAll() throws IOException {
    SlowFileSystem.OLDER_MILLIS.set(10_000);
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    write(writer, "a", new byte[10]);
    write(writer, "b", new byte[20]);
    assertEquals(10, read(reader, "a").length);
    assertEquals(20, read(reader, "b").length);
    writer.setPermission(path("a"), new FsPermission((short) 0600));
    assertEquals(0600, reader.getFileStatus(path("a")).getPermission().toShort());
    writer.setTimes(path("a"), 5_000, -1);
    assertEquals(5_000, reader.getFileStatus(path("a")).getModificationTime());
    assertTrue(writer.delete(path("b"), false));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(path("b")));
    assertTrue(writer.rename(path("a"), path("b")));
    assertThrows(FileNotFoundException.class, () -> reader.open(path("a")));
    assertEquals(10, read(reader, "b").length);
    writer.truncate(path("b"), 3);
    assertEquals(3, read(reader, "b").length);
  }

  @Test
  void whatIsBelowADirectoryIsForgottenWithIt() throws IOException {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    SlowFileSystem.OLDER_MILLIS.set(10_000);
    for (String name : new String[] {"x/y/a", "x/y/z/b", "x/c", "xy/d"}) {
      write(writer, name, new byte[10]);
      read(reader, name);
    }
    long kept = reader.cacheStatistics().count(Counter.STATUS_LOADS);
    assertTrue(kept > 0);
    assertTrue(writer.rename(path("x/y"), path("w")));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(path("x/y/a")));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(path("x/y/z/b")));
    reader.getFileStatus(path("x/c"));
    reader.getFileStatus(path("xy/d"));
    assertEquals(kept, reader.cacheStatistics().count(Counter.STATUS_LOADS));
    read(reader, "w/z/b");
    assertTrue(writer.delete(path("w"), true));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(path("w/z/b")));
  }

  /** A status that was asked for before a change must not appear after it. */
  @Test
  void aStatusThatWasLoadedMeanwhileStaysInvisible() throws Exception {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    long seed = Long.getLong("crail.test.seed", System.nanoTime());
    java.util.Random random = new java.util.Random(seed);
    SlowFileSystem.OLDER_MILLIS.set(10_000);
    for (int round = 1; round <= 100; round++) {
      int length = round;
      SlowFileSystem.DELAY_NANOS.set(random.nextInt(300_000));
      CountDownLatch begin = new CountDownLatch(1);
      CompletableFuture<FileStatus> asked =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  begin.await();
                  return reader.getFileStatus(path("file"));
                } catch (FileNotFoundException e) {
                  return null;
                } catch (IOException | InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      begin.countDown();
      write(writer, "file", new byte[length]);
      assertEquals(length, reader.getFileStatus(path("file")).getLen(), "seed " + seed);
      asked.get(30, TimeUnit.SECONDS);
      assertEquals(length, reader.getFileStatus(path("file")).getLen(), "seed " + seed);
    }
  }

  @Test
  void aSourceThatIsShorterThanItsStatusIsOneTypedError() throws Exception {
    byte[] content = CacheCluster.bytes(3 * BLOCK, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem fs = cluster.open();
    SlowFileSystem.MISSING_BYTES.set(10);
    assertThrows(SourceChangedException.class, () -> read(fs, "file"));
    SlowFileSystem.MISSING_BYTES.set(0);
    assertArrayEquals(content, read(fs, "file"));

    byte[] shorter = CacheCluster.bytes(BLOCK + 5, 2);
    try (FSDataInputStream in = fs.open(path("file"))) {
      CacheFileSystem other = cluster.open();
      CacheCluster.writeAged(directory.resolve("file"), shorter);
      try (FSDataInputStream stale = other.open(path("file"))) {
        // Cached blocks are still the old file; others would be the new one.
        byte[] all = new byte[content.length];
        stale.readFully(all);
        assertArrayEquals(content, all);
      }
    }
  }

  @Test
  void bytesOfTwoFilesAreNeverMixed() throws Exception {
    byte[] content = CacheCluster.bytes(4 * BLOCK, 1);
    byte[] later = CacheCluster.bytes(4 * BLOCK, 2);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    byte[] part = new byte[BLOCK];
    try (FSDataInputStream in = fs.open(path("file"))) {
      in.readFully(0, part);
    }
    fs.close();
    Files.delete(directory.resolve("file"));
    CacheCluster.writeAged(directory.resolve("file"), later);
    CacheCluster.age(directory.resolve("file"), LONG_AGO + 1);
    CacheFileSystem other = cluster.open("crail.cache.readahead", "0");
    try (FSDataInputStream in = other.open(path("file"))) {
      in.readFully(0, part);
      assertArrayEquals(java.util.Arrays.copyOf(content, BLOCK), part);
      assertThrows(SourceChangedException.class, () -> in.readFully(BLOCK, part));
    }
    assertArrayEquals(later, read(other, "file"));
  }

  @Test
  void errorsAndAbsenceAreNotCached() throws Exception {
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "0");
    assertFalse(fs.exists(path("file")));
    byte[] content = CacheCluster.bytes(2 * BLOCK, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
    assertTrue(fs.exists(path("file")));
    SlowFileSystem.FAILING_READS.set(1);
    IOException error = assertThrows(IOException.class, () -> read(fs, "file"));
    assertNotEquals(SourceChangedException.class, error.getClass());
    assertArrayEquals(content, read(fs, "file"));
    CacheCluster.writeAged(directory.resolve("other"), content);
    SlowFileSystem.FAILING_STATUSES.set(1);
    assertThrows(IOException.class, () -> fs.getFileStatus(path("other")));
    assertEquals(content.length, fs.getFileStatus(path("other")).getLen());
  }
}
