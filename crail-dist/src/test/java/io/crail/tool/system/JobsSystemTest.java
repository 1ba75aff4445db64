/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Addresses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.tools.DistCp;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs Hadoop jobs with its local runner on {@code crail://}, with two namenodes. */
@Tag("once")
class JobsSystemTest {
  private static final boolean LONG = Boolean.getBoolean("crail.test.long");
  private static final int ROW = 100;

  @TempDir private static Path local;
  private static ProcessCluster cluster;
  private static Configuration configuration;
  private static FileSystem files;

  @BeforeAll
  static void start() throws Exception {
    cluster = ProcessCluster.start(2, 2, Map.of());
    if (LONG) {
      cluster.startDatanode("2g", -1);
    }
    configuration = new Configuration();
    configuration.set("fs.crail.site.file", cluster.directory() + "/crail-site.conf");
    configuration.set(
        "fs.defaultFS",
        "crail://"
            + Addresses.text(cluster.namenodeAddress(0))
            + ","
            + Addresses.text(cluster.namenodeAddress(1)));
    // Which Hadoop would take from there, and cut at the comma.
    configuration.set("mapreduce.job.hdfs-servers", "");
    configuration.set(
        "fs.AbstractFileSystem.crail.impl", "io.crail.hadoop.CrailAbstractFileSystem");
    configuration.set("hadoop.tmp.dir", local.resolve("tmp").toString());
    configuration.set(
        "mapreduce.jobtracker.staging.root.dir", local.resolve("staging").toUri().toString());
    // Blocks so small that even the short run has several splits.
    configuration.set("fs.crail.block.size", LONG ? "32m" : "256k");
    configuration.set("mapreduce.job.reduces", "2");
    configuration.set("mapreduce.task.io.sort.mb", "16");
    files = FileSystem.get(configuration);
  }

  @AfterAll
  static void stop() throws Exception {
    FileSystem.closeAll();
    cluster.close();
  }

  private static void run(Tool tool, Object... arguments) throws Exception {
    run(configuration, tool, arguments);
  }

  private static void run(Configuration own, Tool tool, Object... arguments) throws Exception {
    String[] words = Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new);
    assertEquals(0, ToolRunner.run(new Configuration(own), tool, words));
  }

  @Test
  void generatesSortsAndValidates() throws Exception {
    long rows = LONG ? 4_000_000 : 10_000;
    run(new TeraGen(), rows, "/tera/in");
    assertEquals(rows * ROW, bytes("/tera/in"));
    run(new TeraSort(), "/tera/in", "/tera/out");
    assertEquals(rows * ROW, bytes("/tera/out"));
    // Of what was generated, so that nothing is lost or twice; it fails with a line for each row
    // that is out of order.
    run(new TeraValidate(), "/tera/in", "/tera/checksum");
    run(new TeraValidate(), "/tera/out", "/tera/report");
    String report = text("/tera/report/part-r-00000");
    assertTrue(report.matches("checksum\t[0-9a-f]+\n"), report);
    String generated = text("/tera/checksum/part-r-00000");
    assertEquals(last(generated), last(report));
  }

  /** Two jobs with the same input, a directory of this host: the second one reads Crail's bytes. */
  @Test
  void jobsReadThroughTheCache() throws Exception {
    long rows = 10_000;
    Path source = local.resolve("tera");
    run(new TeraGen(), rows, source.toUri());
    try (Stream<Path> parts = Files.list(source)) {
      for (Path part : parts.toList()) {
        // What was written just now is not cached.
        Files.setLastModifiedTime(part, FileTime.from(Instant.EPOCH.plusSeconds(1)));
      }
    }
    Configuration own = new Configuration(configuration);
    own.set("crail.cache.source.tera", source.toUri().toString());
    own.set("crail.cache.blocksize", "64k");
    own.set("crail.cache.memory", "512k");
    own.set("crail.cache.keepfree", "0");
    own.set("crail.cache.statusage", "60m");
    // A slow machine is no reason to read from the source.
    own.set("crail.cache.timeout", "60s");
    own.set("crail.cache.claim", "60s");
    String input = "crailcache://tera/";
    StorageStatistics counts;
    // Its memory ends with it, and before that it waits for what is put.
    try (FileSystem first = FileSystem.get(URI.create(input), own)) {
      counts = first.getStorageStatistics();
      counts.reset();
      run(own, new TeraValidate(), input, "/cached/checksum");
    }
    assertEquals(rows * ROW, counts.getLong("source_bytes"), counts::toString);
    assertEquals(counts.getLong("loads"), counts.getLong("puts"), counts::toString);
    counts.reset();
    try (FileSystem second = FileSystem.get(URI.create(input), own)) {
      assertSame(counts, second.getStorageStatistics());
      run(own, new TeraSort(), input, "/cached/out");
    }
    assertEquals(0, counts.getLong("source_bytes"), counts::toString);
    assertTrue(counts.getLong("hit_bytes") >= rows * ROW, counts::toString);
    run(new TeraValidate(), "/cached/out", "/cached/report");
    assertEquals(
        last(text("/cached/checksum/part-r-00000")), last(text("/cached/report/part-r-00000")));
  }

  private static String last(String report) {
    List<String> lines = report.lines().filter(line -> line.startsWith("checksum")).toList();
    return lines.get(lines.size() - 1);
  }

  private static long bytes(String directory) throws IOException {
    long bytes = 0;
    for (FileStatus status : files.listStatus(new org.apache.hadoop.fs.Path(directory))) {
      bytes += status.getPath().getName().startsWith("part-") ? status.getLen() : 0;
    }
    return bytes;
  }

  private static String text(String file) throws IOException {
    try (FSDataInputStream in = files.open(new org.apache.hadoop.fs.Path(file))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aTreeComesBackAsItWas() throws Exception {
    Path from = Files.createDirectory(local.resolve("from"));
    Random random = new Random(5);
    int[] lengths = {0, 1, 4096, 4097, 1 << 20, (1 << 20) + 1, LONG ? 200 << 20 : 3 << 20};
    for (int i = 0; i < lengths.length; i++) {
      Path directory = Files.createDirectories(from.resolve("a/b" + i % 3));
      byte[] bytes = new byte[lengths[i]];
      random.nextBytes(bytes);
      Files.write(directory.resolve("file " + i), bytes);
    }
    Files.createDirectory(from.resolve("empty"));

    run(new DistCp(configuration, null), from.toUri(), "/copied");
    run(new DistCp(configuration, null), "/copied", local.resolve("back").toUri());
    Map<String, Integer> expected = tree(from);
    assertEquals(expected, tree(local.resolve("back")));
    assertEquals(lengths.length + 5, expected.size(), expected.toString());

    // Again, but only what differs: nothing does, then one file.
    Files.write(from.resolve("a/b0/file 0"), new byte[] {1, 2, 3});
    run(new DistCp(configuration, null), "-update", "-delete", from.toUri(), "/copied");
    run(new DistCp(configuration, null), "-update", "/copied", local.resolve("back").toUri());
    assertEquals(tree(from), tree(local.resolve("back")));
  }

  /** Every name below, with a hash of the bytes; -1 for a directory. */
  private static Map<String, Integer> tree(Path top) throws IOException {
    try (Stream<Path> all = Files.walk(top)) {
      return all.filter(path -> !path.getFileName().toString().endsWith(".crc"))
          .filter(path -> !path.equals(top))
          .collect(
              Collectors.toMap(
                  path -> top.relativize(path).toString(),
                  JobsSystemTest::hash,
                  (a, b) -> a,
                  TreeMap::new));
    }
  }

  private static int hash(Path path) {
    try {
      return Files.isDirectory(path) ? -1 : Arrays.hashCode(Files.readAllBytes(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
