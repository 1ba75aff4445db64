/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A namenode with a log that starts again: nodes, bytes, leases and datanodes are as they were. */
@Tag("once")
@Timeout(300)
class DurableRestartTest {
  private static final int MIB = 1 << 20;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final Random random = new Random(Bytes.seed("durable restarts"));
  @TempDir private Path directory;
  private TestCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    start("crail.namenode.snapshotrecords=100000");
  }

  private void start(String setting) throws Exception {
    cluster =
        TestCluster.start(
            1,
            2,
            "crail.namenode.durability=sync",
            "crail.namenode.datapath=" + directory,
            setting);
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  @Test
  void filesAndTheirBytesAreThere() throws Exception {
    List<byte[]> expected = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 5; i++) {
        byte[] bytes = Bytes.random(random, random.nextInt(2 * MIB));
        Bytes.write(store, "/f" + expected.size(), bytes);
        expected.add(bytes);
      }
      cluster.crail().restartNamenode(0);
      for (int i = 0; i < expected.size(); i++) {
        assertArrayEquals(expected.get(i), Bytes.read(store.lookup("/f" + i).get().asFile()));
      }
    }
    store.delete("/f0", false).get();
    cluster.crail().restartNamenode(0);
    assertNull(store.lookup("/f0").get());
  }

  /** Each start reads the snapshot of the one before, and makes the next one while it serves. */
  @Test
  void aSnapshotTakesThePlaceOfTheLog() throws Exception {
    stop();
    start("crail.namenode.snapshotrecords=0");
    filesAndTheirBytesAreThere();
    aWriterGoesOn();
    List<String> before = names();
    cluster.crail().restartNamenode(0);
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    List<String> names = names();
    // The last file of the log was made ahead, and its name is used again.
    while (names.stream().anyMatch(before.subList(0, before.size() - 1)::contains)) {
      assertTrue(System.nanoTime() - deadline < 0, names + " after " + before);
      Thread.onSpinWait();
      names = names();
    }
    assertEquals(1, names.stream().filter(name -> name.endsWith(".whole")).count(), names + "");
  }

  /** Snapshots before the files of the log, and the last of these at the end. */
  private List<String> names() throws IOException {
    try (var files = Files.list(directory.resolve("namenode-0"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("lock"))
          .sorted(
              Comparator.comparing((String name) -> !name.startsWith("s"))
                  .thenComparing(name -> name))
          .toList();
    }
  }

  @Test
  void aWriterGoesOn() throws Exception {
    byte[] bytes = Bytes.random(random, 5 * MIB);
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    output.write(Bytes.buffer(Arrays.copyOf(bytes, 2 * MIB + 7))).get();
    cluster.crail().restartNamenode(0);
    output.write(Bytes.buffer(Arrays.copyOfRange(bytes, 2 * MIB + 7, 5 * MIB))).get();
    output.close();
    assertArrayEquals(bytes, Bytes.read(store.lookup("/f").get().asFile()));
    cluster.crail().restartNamenode(0);
    assertArrayEquals(bytes, Bytes.read(store.lookup("/f").get().asFile()));
  }
}
