/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailContainer;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.part.NodePath;
import io.crail.tool.Ran;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a cluster in which one of two namenodes is down or hangs. Within the deadline of an
 * operation, the part of the other namenode must be shown and the missing part named.
 */
@Tag("once")
class MissingNamenodeSystemTest {
  private static final int DIRECTORIES = 16;
  private static final long TIMEOUT_MILLIS = 4000;

  // Five deadlines: a listing asks for the root, then lists it; the rest is for a busy machine.
  private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(5 * TIMEOUT_MILLIS);

  private ProcessCluster cluster;
  private CrailStore store;

  /** A spread directory of each namenode. */
  private final List<CrailContainer> spread = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    cluster = ProcessCluster.start(2, 1, Map.of("crail.rpctimeout", TIMEOUT_MILLIS + "ms"));
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    for (int i = 0; i < DIRECTORIES; i++) {
      store
          .create(
              "/d" + i,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
    }
    assertEquals(names(0, 1), listed());
    for (int owner = 0; owner < 2; owner++) {
      String path = names(owner).iterator().next() + "/spread";
      spread.add(
          store
              .createSpread(
                  path,
                  CrailNodeType.DIRECTORY,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get()
              .asContainer());
      for (int i = 0; i < DIRECTORIES; i++) {
        store
            .create(
                path + "/d" + i,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get();
      }
    }
  }

  @AfterEach
  void stop() throws Exception {
    try {
      store.close();
    } finally {
      cluster.close();
    }
  }

  /** The directories that these namenodes have. */
  private static Set<String> names(Integer... namenodes) {
    Set<String> names = new TreeSet<>();
    for (int i = 0; i < DIRECTORIES; i++) {
      if (List.of(namenodes).contains(NodePath.namenodeOf(Utf8.of("/d" + i), 2))) {
        names.add("/d" + i);
      }
    }
    assertTrue(names.size() > 1);
    return names;
  }

  private Set<String> listed() throws Exception {
    Set<String> names = new TreeSet<>();
    root().listEntries().forEachRemaining(names::add);
    return names;
  }

  private CrailContainer root() throws Exception {
    return store.lookup("/").get().asContainer();
  }

  @Test
  void nodesOfTheOtherNamenodeAreShown() throws Exception {
    cluster.namenode(0).signal("STOP");
    try {
      theOtherIsShown(0);
    } finally {
      cluster.namenode(0).signal("CONT");
    }
    // A busy machine may need some time for all that has come to it meanwhile.
    Await.until("the namenode goes on", ProcessCluster.PATIENCE, () -> ran("ping").code() == 0);
    assertEquals(names(0, 1), listed());
    assertEquals(List.of(), store.getSpace().missing());
    assertEquals(0, inTime("df").code());
    cluster.namenode(1).kill();
    theOtherIsShown(1);
  }

  private void theOtherIsShown(int down) throws Exception {
    programsGetAnErrorInTheEnd(down);
    spreadDirectoriesAreListedInPart(down);
    reportsAreShown(down);
    theOtherIsBalanced(down);
    theShellShowsWhatThereIs(down);
    programsOfHadoopGetAnException(down);
  }

  private static void assertNames(int down, List<MissingNamenode> missing) {
    assertEquals(List.of(down), missing.stream().map(MissingNamenode::index).toList());
    ErrorCode code = missing.get(0).cause().code();
    assertTrue(MissingNamenode.isDown(code), code.toString());
  }

  private void programsGetAnErrorInTheEnd(int down) throws Exception {
    long begin = System.nanoTime();
    List<String> names = new ArrayList<>();
    Iterator<String> children = root().listEntries();
    UncheckedIOException end =
        assertThrows(UncheckedIOException.class, () -> children.forEachRemaining(names::add));
    assertEquals(names(1 - down), new TreeSet<>(names));
    IncompleteException incomplete = assertInstanceOf(IncompleteException.class, end.getCause());
    assertNames(down, incomplete.missing());
    assertTrue(
        incomplete
            .getMessage()
            .contains(
                "namenode " + down + " at 127.0.0.1:" + cluster.namenodeAddress(down).getPort()),
        incomplete.getMessage());
    assertTrue(System.nanoTime() - begin < MOST_NANOS, "took too long");
    CrailSpace space = store.getSpace();
    assertNames(down, space.missing());
    assertTrue(space.capacityBytes() > 0);
    CrailContainer root = root();
    assertInstanceOf(
        IncompleteException.class,
        assertThrows(UncheckedIOException.class, root::files).getCause());
  }

  private void spreadDirectoriesAreListedInPart(int down) throws Exception {
    for (CrailContainer each : spread) {
      Set<String> expected = new TreeSet<>();
      names(1 - down).forEach(name -> expected.add(each.getPath() + name));
      Set<String> names = new TreeSet<>();
      List<MissingNamenode> missing = new ArrayList<>();
      Iterator<CrailNode> children = each.listStatus(missing::add);
      children.forEachRemaining(child -> names.add(child.getPath()));
      assertEquals(expected, names);
      assertNames(down, missing);
      assertFalse(children.hasNext());
      Ran ls = inTime("ls", each.getPath());
      if (each == spread.get(down)) {
        // Only its owner knows whether it is there.
        assertEquals(1, ls.code(), ls.toString());
      } else {
        assertEquals(3, ls.code(), ls.toString());
        assertEquals(expected, new TreeSet<>(ls.stdout().lines().toList()), ls.toString());
        assertTrue(ls.stderr().contains("namenode " + down + " at "), ls.toString());
      }
    }
  }

  private Ran ran(String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  private Ran inTime(String... arguments) throws Exception {
    long begin = System.nanoTime();
    Ran ran = ran(arguments);
    long nanos = System.nanoTime() - begin;
    System.out.printf("%s: %.1f s%n", String.join(" ", arguments), nanos / 1e9);
    assertTrue(nanos < MOST_NANOS, "took too long");
    return ran;
  }

  private void reportsAreShown(int down) throws Exception {
    Map<String, String> shown =
        Map.of(
            "df",
            "1 of 1 datanodes online",
            "datanodes",
            "127.0.0.1:" + cluster.datanodeAddress(0).getPort(),
            "top",
            " operations/s, ",
            "dump",
            "# namenode " + (1 - down) + " at ",
            "rebalance",
            "\nnot balanced; moved 0 B in 0 extents\n");
    for (String report : shown.keySet()) {
      Ran ran = inTime(report);
      assertEquals(3, ran.code(), ran.toString());
      assertTrue(ran.stdout().contains(shown.get(report)), ran.toString());
      assertTrue(
          ran.stderr().startsWith("crail: without the part of namenode " + down + " at "),
          ran.toString());
    }
  }

  private void theOtherIsBalanced(int down) throws Exception {
    String plan = inTime("rebalance", "--dry-run").stdout();
    assertTrue(plan.startsWith("namenode " + (1 - down) + " at "), plan);
    assertFalse(plan.contains("namenode " + down), plan);
  }

  private void theShellShowsWhatThereIs(int down) throws Exception {
    for (String path : List.of("/d*", "/*")) {
      Ran ls = inTime("fs", "-ls", "-C", "-d", path);
      assertEquals(1, ls.code(), ls.toString());
      assertEquals(names(1 - down), new TreeSet<>(ls.stdout().lines().toList()), ls.toString());
      assertTrue(ls.stderr().contains("namenode " + down + " at "), ls.toString());
    }
    Ran ls = inTime("fs", "-ls", "-C", "/");
    assertEquals(1, ls.code(), ls.toString());
    assertEquals(names(1 - down), new TreeSet<>(ls.stdout().lines().toList()), ls.toString());
    assertTrue(
        ls.stderr().startsWith("crail fs: not reachable: / lacks the part of namenode " + down),
        ls.toString());
  }

  private void programsOfHadoopGetAnException(int down) throws Exception {
    Configuration hadoop = new Configuration();
    hadoop.set("fs.crail.site.file", cluster.directory().resolve("crail-site.conf").toString());
    try (FileSystem files = FileSystem.newInstance(URI.create("crail:///"), hadoop)) {
      Path root = new Path("/");
      RemoteIterator<FileStatus> each = files.listStatusIterator(root);
      for (int i = 0; i < names(1 - down).size(); i++) {
        each.next();
      }
      assertIncomplete(assertThrows(IOException.class, each::hasNext));
      assertIncomplete(assertThrows(IOException.class, () -> files.listStatus(root)));
      assertIncomplete(assertThrows(IOException.class, () -> files.getStatus(root)));
      assertTrue(files.getFileStatus(root).isDirectory());
    }
  }

  private static void assertIncomplete(IOException failure) {
    assertInstanceOf(IncompleteException.class, failure.getCause());
  }
}
