/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.report.JsonInput;
import io.crail.dist.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
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
  private static final Pattern STALE =
      Pattern.compile(
          "(?m)^stale    (/\\S+): \\S+ \\S+ of \\S+ \\S+, datanode \\d+ .*data is lost.*$");

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
          new TreeSet<>(crail(1, "fsck", "--data", "--paths").stdout().lines().toList()));

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
}
