/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.source;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.lab.source.SourceCounts.Kind;
import java.io.FileNotFoundException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source that a cache is measured in front of. */
@Tag("once")
class DelayedFileSystemTest {
  private static final byte[] CONTENT = "0123456789".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path directory;
  private SourceCounts counts;
  private FileSystem source;

  @BeforeEach
  void open() throws Exception {
    Files.write(directory.resolve("file"), CONTENT);
    Path counted = directory.resolve("counts");
    counts = new SourceCounts(counted);
    Configuration hadoop = new Configuration();
    hadoop.set("fs.delayed.impl", DelayedFileSystem.class.getName());
    hadoop.set(DelayedFileSystem.COUNTS_KEY, counted.toString());
    hadoop.setLong(DelayedFileSystem.MICROS_KEY, 20_000);
    source = FileSystem.newInstance(URI.create("delayed:///"), hadoop);
  }

  @AfterEach
  void close() throws Exception {
    source.close();
  }

  private org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path("delayed://" + directory + "/" + name);
  }

  @Test
  void eachOperationIsDelayedAndCountedOnce() throws Exception {
    long begin = System.nanoTime();
    FileStatus status = source.getFileStatus(path("file"));
    assertEquals(CONTENT.length, status.getLen());
    assertEquals(path("file"), status.getPath());
    assertEquals(2, source.listStatus(path("")).length, "the file, and that of the counts");
    assertEquals(status, source.listStatusIterator(path("file").getParent()).next());
    byte[] read = new byte[4];
    try (FSDataInputStream in = source.open(path("file"))) {
      in.readFully(3, read);
      assertArrayEquals("3456".getBytes(StandardCharsets.US_ASCII), read);
      in.readFully(read);
      assertArrayEquals("0123".getBytes(StandardCharsets.US_ASCII), read);
      in.seek(9);
      assertEquals(1, in.read(read));
      assertEquals(-1, in.read(read));
    }
    long operations = 1 + 2 + 1 + 4;
    assertTrue(System.nanoTime() - begin >= operations * TimeUnit.MILLISECONDS.toNanos(20));
    assertEquals(1, counts.get(Kind.STATUS));
    assertEquals(2, counts.get(Kind.LISTING));
    assertEquals(1, counts.get(Kind.OPEN));
    assertEquals(4, counts.get(Kind.READ));
  }

  @Test
  void whatIsNotThereIsNotFound() {
    assertThrows(FileNotFoundException.class, () -> source.getFileStatus(path("no")));
    assertThrows(FileNotFoundException.class, () -> source.getFileStatus(path("file/below")));
    assertThrows(FileNotFoundException.class, () -> source.listStatus(path("no")));
    assertThrows(FileNotFoundException.class, () -> source.open(path("no")));
  }
}
