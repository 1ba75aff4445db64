/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
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
}
