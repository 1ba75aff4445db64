/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.Credentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that reads have the right bytes, and take them from the right place. */
class CachedReadTest {
  private static final int BLOCK = 64 << 10;

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

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path("crailcache://slow/" + name);
  }

  private static byte[] read(FileSystem fs, String name) throws IOException {
    FileStatus status = fs.getFileStatus(path(name));
    byte[] content = new byte[(int) status.getLen()];
    try (FSDataInputStream in = fs.open(path(name))) {
      in.readFully(content);
      assertEquals(-1, in.read());
    }
    return content;
  }

  /** Closes a file system, so that all it puts is in Crail. */
  private static void settle(CacheFileSystem fs) throws IOException {
    fs.close();
  }

  @Test
  void theSecondProcessReadsNothingFromTheSource() throws IOException {
    byte[] content = CacheCluster.bytes(3 * BLOCK + 1234, 1);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem first = cluster.open();
    assertArrayEquals(content, read(first, "file"));
    settle(first);
    assertEquals(content.length, SlowFileSystem.BYTES.get());
    SlowFileSystem.reset();

    assertArrayEquals(content, read(cluster.open(), "file"));

    assertEquals(0, SlowFileSystem.BYTES.get());
    assertEquals(0, SlowFileSystem.OPENS.get());
    assertEquals(0, SlowFileSystem.STATUSES.get());
  }

  @Test
  void aHitIsOneGetOfTheStatusAndOneOfEachBlock() throws IOException {
    byte[] content = CacheCluster.bytes(2 * BLOCK, 2);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem first = cluster.open();
    assertArrayEquals(content, read(first, "file"));
    settle(first);
    List<String> calls = Collections.synchronizedList(new ArrayList<>());
    CacheFileSystem fs =
        cluster.open(store -> new FailingStore(store, (call, number) -> calls.add(call)));
    assertEquals(content.length, fs.getFileStatus(path("file")).getLen());
    assertEquals(List.of("get"), calls);
    calls.clear();
    try (FSDataInputStream in = fs.open(path("file"))) {
      in.readFully(BLOCK, new byte[10]);
      in.readFully(BLOCK + 10, new byte[10]);
    }
    // The time of use is noted now and then, and no read waits for that.
    assertEquals(List.of("get", "get", "setAttributes"), calls);
  }

  @Test
  void allLengthsAroundABlockAreRead() throws IOException {
    for (int length : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK}) {
      byte[] content = CacheCluster.bytes(length, length);
      CacheCluster.writeAged(directory.resolve("f" + length), content);
    }
    for (int round = 0; round < 2; round++) {
      CacheFileSystem fs = cluster.open();
      for (int length : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK}) {
        assertArrayEquals(CacheCluster.bytes(length, length), read(fs, "f" + length));
      }
      settle(fs);
    }
  }

  @Test
  void positionsAtRandomHaveTheRightBytes() throws IOException {
    byte[] content = CacheCluster.bytes(40 * BLOCK + 7, 3);
    CacheCluster.writeAged(directory.resolve("file"), content);
    long seed = Long.getLong("crail.test.seed", System.nanoTime());
    Random random = new Random(seed);
    // Less memory than the file has blocks.
    try (CacheFileSystem fs = cluster.open();
        FSDataInputStream in = fs.open(path("file"))) {
      for (int i = 0; i < 500; i++) {
        int from = random.nextInt(content.length);
        int length = 1 + random.nextInt(Math.min(3 * BLOCK, content.length - from));
        byte[] expected = Arrays.copyOfRange(content, from, from + length);
        byte[] got = new byte[length];
        ByteBuffer buffer = ByteBuffer.allocateDirect(length);
        in.readFully(from, got);
        assertArrayEquals(expected, got, "seed " + seed);
        in.readFully(from, buffer);
        buffer.flip().get(got);
        assertArrayEquals(expected, got, "seed " + seed);
        in.seek(from);
        Arrays.fill(got, (byte) 0);
        in.readFully(got);
        assertArrayEquals(expected, got, "seed " + seed);
      }
    }
  }

  @Test
  void rangesAreOneReadOfEachBlock() throws Exception {
    byte[] content = CacheCluster.bytes(8 * BLOCK, 4);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem fs = cluster.open();
    List<FileRange> ranges = new ArrayList<>();
    for (int i = 0; i < 8 * 4; i++) {
      ranges.add(FileRange.createFileRange(i * (BLOCK / 4) + 10, 1000));
    }
    try (FSDataInputStream in = fs.open(path("file"))) {
      in.readVectored(ranges, ByteBuffer::allocateDirect);
      for (FileRange range : ranges) {
        ByteBuffer data = range.getData().get(30, TimeUnit.SECONDS);
        byte[] got = new byte[data.remaining()];
        data.get(got);
        int from = (int) range.getOffset();
        assertArrayEquals(Arrays.copyOfRange(content, from, from + 1000), got);
      }
    }
    assertEquals(content.length, SlowFileSystem.BYTES.get());
  }

  @Test
  void aReaderInSequenceFindsItsBlocksFetched() throws Exception {
    byte[] content = CacheCluster.bytes(8 * BLOCK, 5);
    CacheCluster.writeAged(directory.resolve("file"), content);
    CacheFileSystem fs = cluster.open("crail.cache.readahead", "4");
    try (FSDataInputStream in = fs.open(path("file"))) {
      byte[] two = new byte[BLOCK + 1];
      in.readFully(two);
      // The second block was begun, so the four after it are on their way.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (SlowFileSystem.BYTES.get() < 6 * BLOCK) {
        assertTrue(System.nanoTime() < deadline, "nothing was fetched ahead");
        Thread.onSpinWait();
      }
    }
    SlowFileSystem.reset();
    try (FSDataInputStream in = fs.open(path("file"))) {
      byte[] all = new byte[content.length];
      in.readFully(0, all);
      assertArrayEquals(content, all);
    }
    assertTrue(SlowFileSystem.BYTES.get() <= 2 * BLOCK, SlowFileSystem.BYTES + "");
  }

  @Test
  void aSmallFileTakesItsOwnBytesInCrail() throws Exception {
    for (int i = 0; i < 50; i++) {
      CacheCluster.writeAged(directory.resolve("f" + i), CacheCluster.bytes(4096, i));
    }
    CacheFileSystem fs = cluster.open("crail.cache.blocksize", "1m", "crail.cache.memory", "64m");
    for (int i = 0; i < 50; i++) {
      read(fs, "f" + i);
    }
    settle(fs);
    try (CrailStore store = cluster.store()) {
      int blocks = store.lookup("/cache/slow/blocks").get().asContainer().files();
      assertEquals(50, blocks);
      // The namenodes have them, or datanodes, each block and each status with the smallest extent.
      long used = store.getSpace().usedBytes();
      assertTrue(used <= 2 * 50 * 4096, used + " bytes");
    }
  }

  @Test
  void pathsOfTheSourceStayAsTheyAre() throws Exception {
    byte[] content = CacheCluster.bytes(BLOCK, 6);
    CacheCluster.writeAged(directory.resolve("file"), content);
    Configuration hadoop = cluster.configuration("fs.slow.impl", CacheFileSystem.class.getName());
    try (FileSystem fs = FileSystem.newInstance(URI.create("slow:///"), hadoop)) {
      assertEquals("slow", fs.getScheme());
      assertEquals(SlowFileSystem.ROOT, fs.getUri());
      assertEquals("slow-service", fs.getCanonicalServiceName());
      org.apache.hadoop.fs.Path file =
          new org.apache.hadoop.fs.Path("slow://" + directory + "/file");
      FileStatus status = fs.getFileStatus(file);
      assertEquals(file, status.getPath());
      assertEquals(status.getPath(), fs.getFileStatus(file).getPath());
      assertEquals(
          1, ((CacheFileSystem) fs).cacheStatistics().count(CacheStatistics.Counter.STATUS_HITS));
      try (FSDataInputStream in = fs.openFile(file).build().get(30, TimeUnit.SECONDS)) {
        byte[] got = new byte[BLOCK];
        in.readFully(got);
        assertArrayEquals(content, got);
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> fs.open(new org.apache.hadoop.fs.Path("hdfs://elsewhere/file")));
    }
  }

  @Test
  void aNameHasItsDirectoryAlone() throws Exception {
    Files.createDirectories(directory.resolve("a/b"));
    CacheCluster.writeAged(directory.resolve("a/b/file"), new byte[10]);
    CacheFileSystem fs = cluster.open();
    assertEquals("crailcache", fs.getScheme());
    assertEquals("slow-service", fs.getCanonicalServiceName());
    assertEquals(path("a/b/file"), fs.listStatus(path("a/b"))[0].getPath());
    assertEquals(path("a/b/file"), fs.listFiles(path(""), true).next().getPath());
    assertEquals(path("a/b/file"), fs.getFileStatus(path("a/b/file")).getPath());
    assertEquals(path("a/b/file"), fs.resolvePath(path("a/b/file")));
    assertEquals(1, fs.getFileBlockLocations(path("a/b/file"), 0, 10).length);
    assertEquals(10, fs.getContentSummary(path("a")).getLength());
    fs.setWorkingDirectory(path("a"));
    assertEquals(path("a/b/file"), fs.makeQualified(new org.apache.hadoop.fs.Path("b/file")));
    assertThrows(FileNotFoundException.class, () -> fs.getFileStatus(path("no such file")));
  }

  @Test
  void readsBehindTheEndAreRefused() throws Exception {
    CacheCluster.writeAged(directory.resolve("file"), new byte[10]);
    try (FSDataInputStream in = cluster.open().open(path("file"))) {
      assertEquals(-1, in.read(10, new byte[1], 0, 1));
      assertThrows(EOFException.class, () -> in.seek(11));
      assertThrows(EOFException.class, () -> in.readFully(5, new byte[6]));
    }
  }

  @Test
  void badSettingsAreRefusedByName() {
    Configuration hadoop = cluster.configuration("crail.cache.blocksize", "12");
    IOException error =
        assertThrows(
            IOException.class,
            () -> FileSystem.newInstance(URI.create("crailcache://slow/"), hadoop));
    assertTrue(error.getMessage().contains("crail.cache.blocksize"), error.getMessage());
    error =
        assertThrows(
            IOException.class,
            () ->
                FileSystem.newInstance(URI.create("crailcache://other/"), cluster.configuration()));
    assertTrue(error.getMessage().contains("crail.cache.source.other"), error.getMessage());
  }

  @Test
  void aFileContextReadsThroughTheCache() throws Exception {
    byte[] content = CacheCluster.bytes(BLOCK + 1, 7);
    CacheCluster.writeAged(directory.resolve("file"), content);
    Configuration hadoop =
        cluster.configuration(
            "fs.AbstractFileSystem.crailcache.impl", CacheAbstractFileSystem.class.getName());
    FileContext context = FileContext.getFileContext(URI.create("crailcache://slow/"), hadoop);
    for (int i = 0; i < 2; i++) {
      try (FSDataInputStream in = context.open(path("file"))) {
        byte[] got = new byte[content.length];
        in.readFully(got);
        assertArrayEquals(content, got);
      }
    }
    assertEquals(content.length, SlowFileSystem.BYTES.get());
  }

  /** Hadoop asks each file system for the tokens of its service, once. */
  @Test
  void tokensAreThoseOfTheSource() throws Exception {
    Credentials credentials = new Credentials();
    CacheFileSystem fs = cluster.open();
    assertEquals(1, fs.addDelegationTokens("renewer", credentials).length);
    assertEquals("slow-service", credentials.getAllTokens().iterator().next().getService() + "");
    Configuration hadoop = cluster.configuration("fs.slow.impl", CacheFileSystem.class.getName());
    try (FileSystem direct = FileSystem.newInstance(URI.create("slow:///"), hadoop)) {
      assertEquals(1, direct.addDelegationTokens("renewer", new Credentials()).length);
    }
  }

  @Test
  void aNameThatIsGivenToAnotherSourceHasOtherFiles() throws Exception {
    Path other = Files.createDirectory(directory.resolve("other"));
    CacheCluster.writeAged(directory.resolve("file"), new byte[] {1});
    CacheCluster.writeAged(other.resolve("file"), new byte[] {2});
    for (int round = 0; round < 2; round++) {
      assertArrayEquals(new byte[] {1}, read(cluster.open(), "file"));
      CacheFileSystem renamed = cluster.open("crail.cache.source.slow", "slow://" + other);
      assertArrayEquals(new byte[] {2}, read(renamed, "file"));
    }
  }

  @Test
  void noNameIsThatOfASchemeAndAHost() {
    assertEquals("hdfs=nn%3A9000", CacheNames.sourceOf(URI.create("hdfs://nn:9000/")));
    assertEquals("file=", CacheNames.sourceOf(URI.create("file:///")));
    for (String name : new String[] {"Slow", "hdfs=nn", "slow:80", ".."}) {
      IOException error =
          assertThrows(
              IOException.class,
              () ->
                  cluster.opened(
                      "crailcache://" + name + "/",
                      "crail.cache.source." + name,
                      "slow://" + directory));
      assertTrue(error.getMessage().contains(name), error.getMessage());
    }
  }

  @Test
  void noPathLeadsOutOfTheDirectoryOfAName() throws Exception {
    Path inside = Files.createDirectory(directory.resolve("inside"));
    CacheCluster.writeAged(directory.resolve("outside"), new byte[10]);
    CacheFileSystem fs = cluster.open("crail.cache.source.slow", "slow://" + inside);
    for (String name : new String[] {"../outside", "..", "../inside/../outside"}) {
      assertThrows(IllegalArgumentException.class, () -> fs.getFileStatus(path(name)), name);
      assertThrows(IllegalArgumentException.class, () -> fs.open(path(name)), name);
      assertThrows(IllegalArgumentException.class, () -> fs.listStatus(path(name)), name);
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> fs.listStatus(new org.apache.hadoop.fs.Path("../../../../../..")));
  }

  @Test
  void aStatusIsFoundByThePathThatWasAskedFor() throws Exception {
    CacheCluster.writeAged(directory.resolve("file"), new byte[10]);
    SlowFileSystem.MOVED.set(1);
    CacheFileSystem fs = cluster.open();
    fs.cacheStatistics().reset();
    for (int i = 0; i < 3; i++) {
      assertEquals(path("file"), fs.getFileStatus(path("file")).getPath());
    }
    assertEquals(2, fs.cacheStatistics().count(CacheStatistics.Counter.STATUS_HITS));
  }

  @Test
  void memoryForLessThanTwoBlocksIsRefused() {
    IOException error =
        assertThrows(
            IOException.class,
            () -> cluster.open("crail.cache.blocksize", "1m", "crail.cache.memory", "1m"));
    assertTrue(error.getMessage().contains("crail.cache.memory"), error.getMessage());
    assertTrue(error.getMessage().contains("crail.cache.blocksize"), error.getMessage());
  }

  @Test
  void anOpenFileKeepsOneStreamOfTheSource() throws Exception {
    byte[] content = CacheCluster.bytes(8 * BLOCK, 9);
    CacheCluster.writeAged(directory.resolve("file"), content);
    SlowFileSystem.DELAY_NANOS.set(TimeUnit.MILLISECONDS.toNanos(5));
    CacheFileSystem fs = cluster.open();
    List<FileRange> ranges = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ranges.add(FileRange.createFileRange(i * BLOCK, BLOCK));
    }
    try (FSDataInputStream in = fs.open(path("file"))) {
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        range.getData().get(60, TimeUnit.SECONDS);
      }
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (SlowFileSystem.STREAMS.get() > 1) {
        assertTrue(System.nanoTime() < deadline, SlowFileSystem.STREAMS + " streams");
        Thread.onSpinWait();
      }
    }
    assertEquals(0, SlowFileSystem.STREAMS.get());
  }
}
