/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.tool.Ran;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Kills and stops the datanode that data moves to, at full bandwidth. All that was safe at the
 * other datanode stays safe there.
 */
@Tag("once")
class DyingTargetSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int ROUNDS =
      Integer.getInteger("crail.test.rounds", Boolean.getBoolean("crail.test.long") ? 20 : 1);
  private static final int FILES = 40;
  private static final int MIB = 1 << 20;

  /** What is moved rests for longer than a round takes, so nothing of it may be lost. */
  private static Map<String, String> settings(boolean mapped) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "60s");
    settings.put("crail.namenode.freemargin", "200ms");
    settings.put("crail.storage.keepalive", "300ms");
    settings.put("crail.datatimeout", "5s");
    settings.put("crail.storage.localmap", String.valueOf(mapped));
    return settings;
  }

  private static byte[] bytes(int file) {
    byte[] bytes = new byte[MIB];
    new Random(file).nextBytes(bytes);
    return bytes;
  }

  private static void write(CrailStore store) throws Exception {
    for (int i = 0; i < FILES; i++) {
      try (CrailBufferedOutputStream out =
          DataFiles.create(store, "/f" + i).getBufferedOutputStream(MIB)) {
        out.write(bytes(i));
      }
    }
  }

  private static void check(ProcessCluster cluster) throws Exception {
    CrailConfiguration remote =
        CrailConfiguration.of(cluster.configuration("crail.storage.localmap", "false"));
    try (CrailStore store = CrailStore.newInstance(remote)) {
      for (int i = 0; i < FILES; i++) {
        try (CrailBufferedInputStream in =
            store.lookup("/f" + i).get(60, TimeUnit.SECONDS).asFile().getBufferedInputStream(MIB)) {
          assertTrue(Arrays.equals(bytes(i), in.readAllBytes()), "/f" + i);
        }
      }
    }
  }

  /** What nodes have at a datanode; 0 when it is not known any more. */
  private static long used(ProcessCluster cluster, CoreStore store, int index) throws Exception {
    return cluster.reported(store, index).map(ReportDatanodes.Datanode::usedBytes).orElse(0L);
  }

  @ParameterizedTest(name = "{0} with {1}, mapped: {2}")
  @CsvSource({
    "drain, KILL, true",
    "drain, KILL, false",
    "drain, STOP, true",
    "drain, STOP, false",
    "rebalance, KILL, true",
    "rebalance, KILL, false",
    "rebalance, STOP, true",
    "rebalance, STOP, false"
  })
  void durableBytesStaySafe(String command, String signal, boolean mapped) throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    Random random = new Random(seed);
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings(mapped));
        CoreStore store =
            (CoreStore) CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      write(store);
      String source = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
      for (int round = 0; round < ROUNDS; round++) {
        cluster.startDatanode("64m", -1);
        int target = 1 + round;
        int port = cluster.datanodeAddress(target).getPort();
        CrailProcess mover =
            command.equals("drain")
                ? cluster.crail("drain", source)
                : cluster.crail("rebalance", "-t", "1");
        Await.until("something has moved", PATIENCE, () -> used(cluster, store, target) > 0);
        TimeUnit.MILLISECONDS.sleep(random.nextInt(60));
        cluster.datanode(target).signal(signal);
        // The namenode notices, whatever has been moved there until then.
        Await.until("nothing is there", PATIENCE, () -> used(cluster, store, target) == 0);
        check(cluster);
        mover.kill();
        cluster.datanode(target).kill();
        Await.until(
            "it is given up",
            PATIENCE,
            () -> {
              Ran ran = Ran.run(cluster.directory(), "removeDatanode", "127.0.0.1:" + port);
              return ran.stdout().contains("was silent and is removed")
                  || ran.stderr().contains("unknown datanode");
            });
        if (command.equals("drain")) {
          // On a busy machine the source may seem silent for a while.
          Await.until(
              "the source is used again",
              PATIENCE,
              () -> Ran.run(cluster.directory(), "drain", "--cancel", source).code() == 0);
        }
        check(cluster);
        Ran fsck = Ran.run(cluster.directory(), "fsck");
        assertEquals(0, fsck.code(), fsck.stdout());
      }
    }
  }
}
