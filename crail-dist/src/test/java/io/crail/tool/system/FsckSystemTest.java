/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.report.JsonInput;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail fsck --data} finds what the namenodes do not know. */
@Tag("once")
class FsckSystemTest {
  private static final int FILES = 24;
  private static final int BYTES = 100_000;
  private static final int CHANGED = 300;
  private static final int SECONDS = 8;
  private static final Pattern STALE =
      Pattern.compile(
          "(?m)^stale    (/\\S+): \\S+ \\S+ of \\S+ \\S+, datanode 127.0.0.1:\\d+ .*data is lost.*$");

  /** A sign of life is so rare that a namenode takes a killed datanode for alive. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "crail.storage.keepalive", "60s",
          "crail.datatimeout", "5s",
          "crail.storage.localmap", "false");

  @TempDir Path local;

  private ProcessCluster cluster;

  private Ran crail(int code, String... arguments) {
    Ran ran = Ran.run(cluster.directory(), arguments);
    assertEquals(code, ran.code(), () -> List.of(arguments) + " gave " + ran);
    return ran;
  }

  /** The files that {@code crail cat} cannot print. */
  private Set<String> unreadable(List<String> paths) {
    return paths.stream()
        .filter(path -> Ran.run(cluster.directory(), "cat", path).code() != 0)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void filesOfADatanodeThatWasRestartedEmptyAreStale() throws Exception {
    Path file = Files.write(local.resolve("file"), new byte[BYTES]);
    try (ProcessCluster started = ProcessCluster.start(2, 2, SETTINGS)) {
      cluster = started;
      List<String> paths = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        paths.add("/file-" + i);
        crail(0, "put", file.toString(), "/file-" + i);
      }
      Path large = Files.write(local.resolve("large"), new byte[3 << 20]);
      crail(0, "put", large.toString(), "/large");
      crail(0, "mkdir", "-t", "table", "/table");
      crail(0, "put", file.toString(), "/table/value");
      String well = crail(0, "fsck", "--data").stdout();
      Matcher read =
          Pattern.compile(
                  "(?m)^read from (\\d+) extents of 26 files;"
                      + " stale: 0 files \\(0 B\\); unread: 0 files \\(0 B\\)$")
              .matcher(well);
      assertTrue(read.find(), well);
      assertTrue(Integer.parseInt(read.group(1)) >= 28, well);

      cluster.datanode(0).kill();
      String dead = crail(1, "fsck", "--data").stdout();
      assertTrue(dead.matches("(?s).*unread   /file-.*not reachable.*"), dead);
      cluster.startDatanodeAgain(0);
      Await.until(
          "another process serves there",
          ProcessCluster.PATIENCE,
          () -> Ran.run(cluster.directory(), "fsck", "--data").stdout().contains("stale    "));
      assertTrue(crail(0, "fsck").stdout().contains("; silent: 0 files (0 B); "));

      String text = crail(1, "fsck", "--data").stdout();
      Set<String> stale =
          STALE.matcher(text).results().map(line -> line.group(1)).collect(Collectors.toSet());
      paths.addAll(List.of("/table/value", "/large"));
      assertEquals(unreadable(paths), new TreeSet<>(stale), text);
      assertTrue(stale.size() > 0 && stale.size() < paths.size(), text);
      Map<?, ?> report = (Map<?, ?>) JsonInput.parse(crail(1, "fsck", "--data", "-j").stdout());
      assertEquals((double) stale.size(), ((Map<?, ?>) report.get("data")).get("staleFiles"));
      assertEquals(
          Set.of("stale"),
          ((List<?>) report.get("files"))
              .stream().map(each -> ((Map<?, ?>) each).get("state")).collect(Collectors.toSet()));
      assertEquals(
          new TreeSet<>(stale),
          new TreeSet<>(crail(1, "fsck", "--data", "--paths", "stale").stdout().lines().toList()));

      assertEquals("", crail(1, "fsck", "--data", "--paths").stdout());

      // A client that maps the memory of this host finds the same.
      String mapped = crail(1, "fsck", "--data", "--set", "crail.storage.localmap=true").stdout();
      assertEquals(stale.size(), STALE.matcher(mapped).results().count(), mapped);

      // What is gone by now is no damage.
      List<String> remove = new ArrayList<>(List.of("rm"));
      remove.addAll(stale);
      crail(0, remove.toArray(new String[0]));
      crail(0, "fsck", "--data");
    }
  }

  /** What is in it is found, counted and repaired at each namenode, and it counts once. */
  @Test
  void filesOfSpreadDirectoriesAreExaminedLikeOthers() throws Exception {
    Path file = Files.write(local.resolve("file"), new byte[BYTES]);
    try (ProcessCluster started =
        ProcessCluster.start(3, 1, Map.of("crail.storage.keepalive", "1s"))) {
      cluster = started;
      crail(0, "mkdir", "--spread", "/spread");
      crail(0, "mkdir", "--spread", "-t", "table", "/table");
      Set<String> paths = new TreeSet<>();
      for (int i = 0; i < FILES; i++) {
        String path = (i % 2 == 0 ? "/spread/file" : "/table/value") + i;
        paths.add(path);
        crail(0, "put", file.toString(), path);
      }
      String well = crail(0, "fsck", "--data").stdout();
      String nodes = FILES + 2 + " nodes";
      assertTrue(well.contains(nodes + " examined; lost: 0 files"), well);
      assertTrue(well.contains(" extents of " + FILES + " files; stale: 0 files"), well);
      assertTrue(well.endsWith("no space has two owners; accounts are right\n"), well);
      String df = crail(0, "df").stdout();
      assertTrue(df.contains(nodes), df);
      assertEquals(
          BYTES * FILES / 2 + "  /spread", crail(0, "du", "-sb", "/spread").stdout().strip());
      Set<String> used = new TreeSet<>();
      for (String line : crail(0, "du", "-b", "/spread", "/table").stdout().lines().toList()) {
        assertEquals(String.valueOf(BYTES), line.strip().split("\\s+")[0], line);
        used.add(line.strip().split("\\s+")[1]);
      }
      assertEquals(paths, used);

      cluster.datanode(0).kill();
      cluster.startDatanodeAgain(0);
      Await.until(
          "the dead datanode is replaced",
          ProcessCluster.PATIENCE,
          () ->
              Ran.run(cluster.directory(), "fsck").stdout().contains("lost: " + FILES + " files"));
      assertEquals(paths, new TreeSet<>(crail(1, "fsck", "--paths").stdout().lines().toList()));
      crail(0, "fsck", "--repair", "--yes");
      String repaired = crail(0, "fsck").stdout();
      assertTrue(repaired.matches("(?ms).*^2 nodes examined; lost: 0 files.*"), repaired);
      assertEquals("", crail(0, "ls", "/spread").stdout());
    }
  }

  /** Writes, overwrites, moves and deletes files in a directory of its own. */
  private static Void change(CrailStore store, int writer, AtomicBoolean over) throws Exception {
    Random random = new Random(writer);
    String directory = "/changed" + writer + "/";
    boolean[] present = new boolean[CHANGED];
    create(store, directory.substring(0, directory.length() - 1), CrailNodeType.DIRECTORY);
    while (!over.get()) {
      int file = random.nextInt(CHANGED);
      String path = directory + file;
      int other = random.nextInt(CHANGED);
      if (present[file] && !present[other]) {
        store.rename(path, directory + other).get(60, TimeUnit.SECONDS);
        present[file] = false;
        present[other] = true;
      } else if (present[file]) {
        store.delete(path, false).get(60, TimeUnit.SECONDS);
        present[file] = false;
      }
      if (!present[file]) {
        CrailFile created = create(store, path, CrailNodeType.DATAFILE).asFile();
        try (CrailBufferedOutputStream out = created.getBufferedOutputStream(0)) {
          out.write(new byte[1 + random.nextInt(3 * 4096)]);
        }
        present[file] = true;
      }
    }
    return null;
  }

  private static CrailNode create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  /** Extents come, go and change their nodes between the answers that are compared. */
  @Test
  void filesThatChangeMeanwhileAreNoDamage() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ProcessCluster started = ProcessCluster.start(2, 2, Map.of());
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(started.configuration()))) {
      cluster = started;
      List<Future<Void>> writers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int writer = i;
        writers.add(threads.submit(() -> change(store, writer, over)));
      }
      long end = System.nanoTime() + SECONDS * 1_000_000_000L;
      while (System.nanoTime() - end < 0) {
        crail(0, "fsck");
        crail(0, "fsck", "--data");
      }
      over.set(true);
      for (Future<Void> each : writers) {
        each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      over.set(true);
      threads.shutdownNow();
    }
  }
}
