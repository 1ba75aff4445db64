/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Syncable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that whatever may change a file makes the cache forget it. */
class ForgetTest {
  private static final org.apache.hadoop.fs.Path FILE =
      new org.apache.hadoop.fs.Path("crailcache://slow/file");

  @TempDir Path directory;
  @TempDir Path local;
  private CacheCluster cluster;

  @BeforeEach
  void start() throws IOException {
    cluster = new CacheCluster(directory, 1);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
  }

  private org.apache.hadoop.fs.Path local(String name) {
    return new org.apache.hadoop.fs.Path(local.resolve(name).toUri());
  }

  @Test
  void aFileThatIsMovedToTheHostIsForgotten() throws IOException {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    CacheCluster.writeAged(directory.resolve("file"), new byte[10]);
    reader.getFileStatus(FILE);
    writer.copyToLocalFile(true, FILE, local("copied"));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(FILE));
    CacheCluster.writeAged(directory.resolve("file"), new byte[10]);
    reader.getFileStatus(FILE);
    writer.moveToLocalFile(FILE, local("moved"));
    assertThrows(FileNotFoundException.class, () -> reader.getFileStatus(FILE));
    assertEquals(10, Files.size(local.resolve("moved")));
  }

  /** The source has no snapshots, and what failed may have been done. */
  @Test
  void whatIsInASnapshotIsForgottenWithIt() throws IOException {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open();
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path("crailcache://slow/d");
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(root, ".snapshot/s/file");
    Files.createDirectories(directory.resolve("d/.snapshot/s"));
    for (int length = 1; length <= 2; length++) {
      CacheCluster.writeAged(directory.resolve("d/.snapshot/s/file"), new byte[length]);
      assertEquals(length, reader.getFileStatus(file).getLen());
      if (length == 1) {
        assertThrows(UnsupportedOperationException.class, () -> writer.deleteSnapshot(root, "s"));
      } else {
        assertThrows(
            UnsupportedOperationException.class, () -> writer.renameSnapshot(root, "s", "t"));
      }
    }
    CacheCluster.writeAged(directory.resolve("d/.snapshot/s/file"), new byte[3]);
    assertEquals(3, reader.getFileStatus(file).getLen());
  }

  @Test
  void aWriterThatCachesNoStatusForgetsThatOfOthers() throws IOException {
    CacheFileSystem reader = cluster.open();
    CacheFileSystem writer = cluster.open("crail.cache.statusage", "0ms");
    CacheCluster.writeAged(directory.resolve("file"), new byte[10]);
    assertEquals(10, reader.getFileStatus(FILE).getLen());
    try (FSDataOutputStream out = writer.create(FILE, true)) {
      out.write(1);
    }
    assertEquals(1, reader.getFileStatus(FILE).getLen());
  }

  /** A stream whose every flush fails after it has done something. */
  private static final class FailingStream extends OutputStream implements Syncable {
    @Override
    public void write(int one) {}

    @Override
    public void hflush() throws IOException {
      throw new IOException("a fault of the test");
    }

    @Override
    public void hsync() throws IOException {
      throw new IOException("a fault of the test");
    }
  }

  @Test
  void aFlushThatFailsMayHaveChangedTheFile() throws IOException {
    AtomicInteger changes = new AtomicInteger();
    InvalidatingOutputStream out =
        new InvalidatingOutputStream(
            new FSDataOutputStream(new FailingStream(), null), changes::incrementAndGet);
    assertThrows(IOException.class, out::hflush);
    assertEquals(1, changes.get());
    assertThrows(IOException.class, out::hsync);
    assertEquals(2, changes.get());
    out.close();
    assertEquals(3, changes.get());
  }

  /**
   * A thread that looks after its own change does not get what another one has asked for before. A
   * directory has no record, so that nothing else would tell.
   */
  @Test
  void whatIsLoadedForOthersIsNotOlderThanTheirChanges() throws Exception {
    CacheFileSystem fs = cluster.open();
    Files.createDirectories(directory.resolve("file"));
    CountDownLatch read = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    SlowFileSystem.AFTER_STATUS.set(
        () -> {
          if (read.getCount() == 0) {
            // Only the first look is slow, not that of the removal.
            return;
          }
          read.countDown();
          try {
            release.await(60, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    CompletableFuture<FileStatus> old = ask(fs, new AtomicReference<>());
    assertTrue(read.await(60, TimeUnit.SECONDS));
    // As a change through the cache does, after which this process looks.
    assertTrue(fs.delete(FILE, false));
    AtomicReference<Thread> asking = new AtomicReference<>();
    CompletableFuture<FileStatus> present = ask(fs, asking);
    try {
      awaitWaiting(asking, present);
    } finally {
      release.countDown();
    }
    assertTrue(old.get(60, TimeUnit.SECONDS).isDirectory());
    assertEquals(null, present.get(60, TimeUnit.SECONDS));
  }

  /**
   * Asks for the status in a thread of its own, since a pool may have too few; null if there is no
   * file.
   */
  private static CompletableFuture<FileStatus> ask(
      CacheFileSystem fs, AtomicReference<Thread> asking) {
    return CompletableFuture.supplyAsync(
        () -> {
          asking.set(Thread.currentThread());
          try {
            return fs.getFileStatus(FILE);
          } catch (FileNotFoundException e) {
            return null;
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        },
        task -> new Thread(task).start());
  }

  /** Waits until a thread waits for another one, or has ended. */
  private static void awaitWaiting(
      AtomicReference<Thread> asking, CompletableFuture<FileStatus> result) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!result.isDone() && !waitsForAnother(asking.get())) {
      assertTrue(System.nanoTime() < deadline, "it neither waits nor ends");
      Thread.onSpinWait();
    }
  }

  private static boolean waitsForAnother(Thread thread) {
    if (thread == null) {
      return false;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().equals(CompletableFuture.class.getName())
          && frame.getMethodName().matches("join|get|timedGet|waitingGet")) {
        return true;
      }
    }
    return false;
  }
}
