/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrossNamenodeException;
import io.crail.protocol.part.NodePath;
import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Directories that a key spreads over several namenodes, as a program for Hadoop uses them. */
class SpreadFileSystemTest {
  private static final int NAMENODES = 3;
  private static final int FILES = 60;

  private HadoopCluster cluster;
  private FileSystem system;

  @BeforeEach
  void start() throws Exception {
    cluster = new HadoopCluster(NAMENODES);
    Configuration configuration = new Configuration();
    configuration.set("crail.client.spread", "/warehouse,/spark/*");
    system = FileSystem.newInstance(cluster.uri(), configuration);
  }

  @AfterEach
  void stop() throws Exception {
    system.close();
    cluster.close();
  }

  private static int namenodeOf(String name) {
    return NodePath.namenodeOf(Utf8.of("/" + name), NAMENODES);
  }

  /** A name at the same namenode as another one, or at another namenode. */
  private static String name(String beside, boolean same) {
    int i = 0;
    while (namenodeOf("n" + i) == namenodeOf(beside) != same) {
      i++;
    }
    return "n" + i;
  }

  private void write(Path path) throws Exception {
    try (FSDataOutputStream out = system.create(path)) {
      out.write(path.getName().getBytes(StandardCharsets.UTF_8));
    }
  }

  private void assertContent(String name, Path path) throws Exception {
    try (FSDataInputStream in = system.open(path)) {
      assertArrayEquals(name.getBytes(StandardCharsets.UTF_8), in.readAllBytes());
    }
  }

  private boolean isSpread(String path) throws Exception {
    try (CrailStore store = CrailStore.newInstance(cluster.configuration())) {
      return store.lookup(path).get().asContainer().isSpread();
    }
  }

  @Test
  void whatMkdirsMakesIsSpreadWhereThePathMatches() throws Exception {
    Path warehouse = new Path("/warehouse");
    assertTrue(system.mkdirs(new Path(warehouse, "table/part")));
    assertTrue(system.mkdirs(warehouse));
    assertTrue(system.mkdirs(new Path("/spark/job/below")));
    assertTrue(isSpread("/warehouse"));
    assertFalse(isSpread("/warehouse/table"));
    assertFalse(isSpread("/spark"));
    assertTrue(isSpread("/spark/job"));
    assertFalse(isSpread("/spark/job/below"));

    Set<String> expected = new TreeSet<>(Set.of("table"));
    for (int i = 0; i < FILES; i++) {
      write(new Path(warehouse, "file" + i));
      expected.add("file" + i);
    }
    Set<String> listed = new TreeSet<>();
    for (FileStatus each : system.listStatus(warehouse)) {
      listed.add(each.getPath().getName());
    }
    assertEquals(expected, listed);
    assertEquals(NAMENODES, listed.stream().mapToInt(name -> namenodeOf(name)).distinct().count());
    assertEquals(FILES, system.getContentSummary(warehouse).getFileCount());
    assertEquals(
        List.of("file10", "file11", "file12"),
        Arrays.stream(system.globStatus(new Path(warehouse, "file1[0-2]")))
            .map(each -> each.getPath().getName())
            .sorted()
            .toList());
  }

  @Test
  void aRenameStaysAtOneNamenode() throws Exception {
    Path from = new Path("/warehouse/from");
    write(from);
    assertTrue(isSpread("/warehouse"));
    Path near = new Path("/warehouse", name("from", true));
    assertTrue(system.rename(from, near));
    assertContent("from", near);
    assertFalse(system.exists(from));

    Path far = new Path("/warehouse", name("from", false));
    PathIOException refused = assertThrows(PathIOException.class, () -> system.rename(near, far));
    assertInstanceOf(CrossNamenodeException.class, refused.getCause());
    assertContent("from", near);
    assertFalse(system.exists(far));

    Path braces = new Path("/warehouse/_temporary-{7}");
    write(braces);
    assertTrue(system.rename(braces, new Path("/warehouse/7")));
    // Below a child all is at its namenode, whatever the names are.
    Path table = new Path("/warehouse/table");
    write(new Path(table, "_temporary/0"));
    assertTrue(system.rename(new Path(table, "_temporary/0"), new Path(table, "part-0")));
    assertContent("0", new Path(table, "part-0"));
  }

  @Test
  void aRemovalRemovesAllShares() throws Exception {
    Path job = new Path("/spark/job");
    for (int i = 0; i < FILES; i++) {
      write(new Path(job, "part-" + i));
    }
    assertTrue(isSpread("/spark/job"));
    assertThrows(PathIsNotEmptyDirectoryException.class, () -> system.delete(job, false));
    assertEquals(FILES, system.listStatus(job).length);
    assertTrue(system.delete(job, true));
    assertThrows(FileNotFoundException.class, () -> system.listStatus(job));
    assertFalse(system.exists(new Path(job, "part-7")));
    assertTrue(system.mkdirs(job));
    assertEquals(0, system.listStatus(job).length);
    assertTrue(system.delete(job, false));
  }

  @Test
  void aBadPatternIsRefused() {
    Configuration configuration = new Configuration();
    configuration.set("crail.client.spread", "/spark/job-*");
    PathIOException refused =
        assertThrows(
            PathIOException.class,
            () -> FileSystem.newInstance(cluster.uri(), configuration).close());
    assertTrue(refused.getMessage().contains("crail.client.spread"), refused.getMessage());
  }
}
