/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

  /** Each start reads the snapshot of the one before, and makes the next one. */
  @Test
  void aSnapshotTakesThePlaceOfTheLog() throws Exception {
    stop();
    start("crail.namenode.snapshotrecords=0");
    filesAndTheirBytesAreThere();
    aWriterGoesOn();
    try (var files = Files.list(directory.resolve("namenode-0"))) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      // The last one, which no start has read yet, and the one before.
      assertEquals(2, names.stream().filter(name -> name.endsWith(".whole")).count(), names + "");
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
