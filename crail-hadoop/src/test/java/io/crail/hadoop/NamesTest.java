/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each name that the store allows comes back as it was, through each call of Hadoop's interface.
 */
@Tag("once")
class NamesTest {
  private static final List<String> NAMES =
      List.of(
          ":",
          "a:b",
          ":a",
          "a:",
          "crail:x",
          "2026-11-27T21:00:00",
          "%",
          "%41",
          "%2F",
          "100%",
          "#",
          "a#b",
          "?",
          "a?b=c&d",
          "a b",
          " a",
          "a ",
          "+",
          "a\\b",
          "\\",
          "..a",
          "...",
          ".a",
          "{a,b}",
          "[a]",
          "[",
          "{",
          "*",
          "a*",
          "^",
          "~",
          "a;b",
          "a@b",
          "a,b",
          "'",
          "\"",
          "`",
          "$a",
          "-a",
          "|",
          "<>",
          "\u00fc",
          "\ud83d\ude80",
          "a\tb",
          "_COPYING_");

  private static HadoopCluster cluster;
  private static FileSystem system;
  private static FileContext context;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HadoopCluster();
    Configuration configuration = new Configuration();
    configuration.set("fs.AbstractFileSystem.crail.impl", CrailAbstractFileSystem.class.getName());
    system = FileSystem.newInstance(cluster.uri(), configuration);
    context = FileContext.getFileContext(cluster.uri(), configuration);
  }

  @AfterAll
  static void stop() throws Exception {
    system.close();
    cluster.close();
  }

  /** The fixed names, and random ones of their letters. */
  private static List<String> names(long seed) {
    Random random = new Random(seed);
    String letters = String.join("", NAMES);
    TreeSet<String> names = new TreeSet<>(NAMES);
    while (names.size() < NAMES.size() + 60) {
      StringBuilder name = new StringBuilder();
      for (int left = 1 + random.nextInt(8); left > 0; left--) {
        int at =
            letters.offsetByCodePoints(
                0, random.nextInt(letters.codePointCount(0, letters.length())));
        name.appendCodePoint(letters.codePointAt(at));
      }
      if (!name.toString().matches("\\.{1,2}")) {
        names.add(name.toString());
      }
    }
    return List.copyOf(names);
  }

  private static void write(Path path) throws IOException {
    try (FSDataOutputStream out = system.create(path, false)) {
      out.write(path.getName().getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void assertContent(Path path, String name) throws IOException {
    try (FSDataInputStream in = system.open(path)) {
      assertArrayEquals(name.getBytes(StandardCharsets.UTF_8), in.readAllBytes());
    }
  }

  private static TreeSet<String> names(FileStatus[] statuses) {
    TreeSet<String> names = new TreeSet<>();
    Arrays.stream(statuses).forEach(each -> names.add(each.getPath().getName()));
    return names;
  }

  /** A program that deletes what it finds must not find files of another store here. */
  @Test
  void patternsOfAnotherFileSystemAreRefused() {
    for (String pattern : new String[] {"hdfs://elsewhere/a*", "crail://elsewhere:9060/a*"}) {
      assertThrows(
          IllegalArgumentException.class, () -> system.globStatus(new Path(pattern)), pattern);
    }
  }

  @Test
  void anyNameComesBack() throws Exception {
    long seed = Long.getLong("crail.test.seed", System.nanoTime());
    List<String> names = names(seed);
    Path from = new Path(cluster.uri() + "from");
    Path to = new Path(cluster.uri() + "to");
    system.mkdirs(from);
    system.mkdirs(to);
    for (String name : names) {
      String text = "seed " + seed + ": '" + name + "'";
      Path path = PathStore.child(from, name);
      write(path);
      FileStatus status = system.getFileStatus(path);
      assertEquals(path, status.getPath(), text);
      assertEquals(name, status.getPath().getName(), text);
      assertEquals(path, context.getFileStatus(path).getPath(), text);
      assertContent(status.getPath(), name);
    }
    assertEquals(new TreeSet<>(names), names(system.listStatus(from)), "seed " + seed);
    List<String> found = new ArrayList<>();
    RemoteIterator<LocatedFileStatus> each = system.listFiles(from, true);
    while (each.hasNext()) {
      found.add(each.next().getPath().getName());
    }
    assertEquals(new TreeSet<>(names), new TreeSet<>(found), "seed " + seed);
    assertEquals(names.size(), system.getContentSummary(from).getFileCount());
    assertEquals(
        new TreeSet<>(names), names(system.globStatus(new Path(from, "*"))), "seed " + seed);
    for (String name : names) {
      String text = "seed " + seed + ": '" + name + "'";
      // Into a directory, which makes the new path from the name.
      assertTrue(system.rename(PathStore.child(from, name), to), text);
      assertFalse(system.exists(PathStore.child(from, name)), text);
      assertContent(PathStore.child(to, name), name);
      assertTrue(system.delete(PathStore.child(to, name), false), text);
    }
    assertEquals(0, system.listStatus(to).length);
  }

  /** A long component, a long path, and text that has lost bytes. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aPathThatNoNodeCanHaveIsNotThere(int which) throws Exception {
    Path path =
        new Path(
            List.of("/" + "x".repeat(300), ("/" + "d".repeat(100)).repeat(12), "/\ufffd")
                .get(which));
    assertFalse(system.exists(path));
    assertThrows(FileNotFoundException.class, () -> system.getFileStatus(path));
    assertThrows(FileNotFoundException.class, () -> system.open(path));
    assertThrows(FileNotFoundException.class, () -> system.append(path));
    assertThrows(FileNotFoundException.class, () -> system.listStatus(path));
    assertThrows(FileNotFoundException.class, () -> system.setTimes(path, 1, 1));
    assertFalse(system.delete(path, true));
    assertFalse(system.rename(path, new Path("/other")));
    assertFalse(system.setReplication(path, (short) 1));
    assertNull(system.globStatus(path));
    // Making something there fails, and the error says why.
    String refusal = assertThrows(IOException.class, () -> system.create(path)).getMessage();
    assertTrue(refusal.contains("path "), refusal);
    assertThrows(IOException.class, () -> system.mkdirs(path));
    assertThrows(FileNotFoundException.class, () -> context.getFileStatus(path));
  }
}
