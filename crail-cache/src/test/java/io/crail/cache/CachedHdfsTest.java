/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.load.CacheLoader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cache before HDFS, by both ways in. */
@Tag("once")
class CachedHdfsTest {
  private static final int BLOCK = 64 << 10;
  private static final int LENGTH = 40 * BLOCK + 11;

  @TempDir static java.nio.file.Path directory;
  private static MiniDFSCluster hdfs;
  private static DistributedFileSystem source;
  private CacheCluster cluster;

  @BeforeAll
  static void startHdfs() throws Exception {
    Configuration configuration = new HdfsConfiguration();
    configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.resolve("hdfs").toString());
    hdfs = new MiniDFSCluster.Builder(configuration).numDataNodes(1).build();
    source = hdfs.getFileSystem();
  }

  @AfterAll
  static void stopHdfs() {
    if (hdfs != null) {
      hdfs.shutdown();
    }
  }

  @BeforeEach
  void start() throws Exception {
    cluster = new CacheCluster(directory, 2);
    write(source, "/data/a", 1);
    write(source, "/data/b", 2);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
    source.delete(new Path("/data"), true);
  }

  /** Writes a file that looks as if that were long ago. */
  private static void write(FileSystem fs, String path, int seed) throws IOException {
    try (FSDataOutputStream out = fs.create(new Path(path), true)) {
      out.write(CacheCluster.bytes(LENGTH, seed));
    }
    fs.setTimes(new Path(path), 1_000_000_000_000L, -1);
  }

  private CacheFileSystem byName() throws IOException {
    return cluster.opened(
        "crailcache://lake/", "crail.cache.source.lake", source.getUri() + "/data");
  }

  private CacheFileSystem byScheme() throws IOException {
    return cluster.opened(
        source.getUri().toString(), "crail.cache.impl.hdfs", DistributedFileSystem.class.getName());
  }

  private static byte[] read(FileSystem fs, String path) throws IOException {
    byte[] bytes = new byte[LENGTH];
    try (FSDataInputStream in = fs.open(new Path(path))) {
      in.readFully(bytes);
      assertEquals(-1, in.read());
    }
    return bytes;
  }

  @Test
  void whatWasLoadedIsReadWithoutADatanodeOfHdfs() throws Exception {
    List<String> failures = new ArrayList<>();
    CacheLoader loader =
        new CacheLoader(
            byName(), 4, Duration.ofMinutes(1), (path, cause) -> failures.add(path + ": " + cause));
    loader.load(new Path("crailcache://lake/"), () -> {});
    assertEquals(List.of(), failures);
    assertEquals(2L * LENGTH, loader.sourceBytes());
    CacheFileSystem reader = byName();
    reader.cacheStatistics().reset();
    MiniDFSCluster.DataNodeProperties stopped = hdfs.stopDataNode(0);
    try {
      assertArrayEquals(CacheCluster.bytes(LENGTH, 1), read(reader, "/a"));
      assertArrayEquals(CacheCluster.bytes(LENGTH, 2), read(reader, "/b"));
    } finally {
      hdfs.restartDataNode(stopped, true);
      hdfs.waitActive();
    }
    assertEquals(0, reader.cacheStatistics().count(Counter.SOURCE_BYTES));
    assertEquals(2, reader.cacheStatistics().count(Counter.STATUS_HITS));
  }

  @Test
  void changesThroughTheCacheAreSeenAtOnceAndOthersWhenTheStatusIsTooOld() throws Exception {
    for (CacheFileSystem fs : List.of(byScheme(), byName())) {
      String above = fs.getScheme().equals("hdfs") ? "/data" : "";
      CacheFileSystem other = above.isEmpty() ? byName() : byScheme();
      write(source, "/data/a", 1);
      assertArrayEquals(CacheCluster.bytes(LENGTH, 1), read(other, above + "/a"));
      write(fs, above + "/a", 3);
      assertArrayEquals(CacheCluster.bytes(LENGTH, 3), read(other, above + "/a"));
      assertTrue(fs.rename(new Path(above + "/a"), new Path(above + "/moved")));
      assertThrows(FileNotFoundException.class, () -> read(other, above + "/a"));
      assertArrayEquals(CacheCluster.bytes(LENGTH, 3), read(other, above + "/moved"));
      assertTrue(fs.delete(new Path(above + "/moved"), false));
      assertThrows(FileNotFoundException.class, () -> read(other, above + "/moved"));
    }
  }

  @Test
  void aFileThatIsBeingWrittenEndsWhereHdfsSaysSo() throws Exception {
    CacheFileSystem fs = byName();
    try (FSDataOutputStream out = fs.create(new Path("/open"))) {
      out.write(CacheCluster.bytes(1_000, 5));
      out.hflush();
      try (FSDataInputStream in = byName().open(new Path("/open"))) {
        assertArrayEquals(CacheCluster.bytes(1_000, 5), in.readNBytes(1_000));
      }
    }
    assertEquals(1_000, fs.getFileStatus(new Path("/open")).getLen());
  }
}
