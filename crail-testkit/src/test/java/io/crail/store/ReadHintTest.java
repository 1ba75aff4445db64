/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailStore;
import io.crail.protocol.NameNodeOperations;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How readers who say how far they will read learn where the bytes lie. */
class ReadHintTest {
  private static final int BLOCK = 64 << 10;

  /** A lookup tells of 4 blocks, an answer of 64. */
  private static final int BLOCKS = 300;

  private static final String BLOCK_SIZE = "crail.blocksize=" + BLOCK;

  @Test
  void sequentialReadersSeldomWaitForALocation() throws Exception {
    long seed = Bytes.seed("read hints");
    try (SimulatedCluster cluster = new SimulatedCluster(seed, BLOCK_SIZE, "crail.lease=60s")) {
      byte[] bytes = Bytes.random(new Random(seed), BLOCKS * BLOCK);
      Bytes.write(cluster.newStore("writer"), "/long", bytes);
      CrailStore store = cluster.newStore("reader");
      CrailInputStream input =
          store.lookup("/long").get().asFile().getDirectInputStream(bytes.length);
      // An answer takes as long as to read ten blocks.
      cluster.network().latency(Duration.ofMillis(5), Duration.ofMillis(5));
      for (int at = 0; at < bytes.length; at += BLOCK) {
        assertArrayEquals(Arrays.copyOfRange(bytes, at, at + BLOCK), Bytes.read(input, BLOCK));
        cluster.network().runFor(Duration.ofMillis(1));
      }
      input.close();
      long waited = BLOCKS - cached(store);
      assertTrue(waited <= 1, waited + " reads waited for their location");
    }
  }

  /** Pieces whose location was there when they were to be read. */
  private static long cached(CrailStore store) {
    String counters = store.getStatistics().describe("core/input");
    return Long.parseLong(counters.replaceAll(".*cached (\\d+).*", "$1"));
  }

  @Test
  void aLocationIsAskedForOnce() throws Exception {
    try (TestCluster cluster = TestCluster.start(BLOCK_SIZE)) {
      CrailStore store = cluster.newStore();
      Bytes.write(store, "/long", new byte[BLOCKS * BLOCK]);
      CrailFile file = store.lookup("/long").get().asFile();
      // 4 blocks come with the lookup.
      assertAsked(0, cluster, () -> readAll(file, 4 * BLOCK, 4 * BLOCK));
      assertAsked(1, cluster, () -> readAll(file, 68 * BLOCK, 68 * BLOCK));
      assertAsked(2, cluster, () -> readAll(file, 68 * BLOCK, BLOCKS * BLOCK));
      assertAsked(5, cluster, () -> readAll(file, BLOCKS * BLOCK, Integer.MAX_VALUE));
    }
  }

  private interface Action {
    void run() throws Exception;
  }

  private static void assertAsked(long expected, TestCluster cluster, Action action)
      throws Exception {
    long before = asked(cluster);
    action.run();
    // The last one may be under way, for it was asked ahead.
    TestCluster.await("asked", () -> asked(cluster) - before >= expected);
    assertEquals(expected, asked(cluster) - before);
  }

  private static long asked(TestCluster cluster) throws Exception {
    return cluster.operations(NameNodeOperations.FIND_EXTENTS);
  }

  /** Reads a file from its begin, by a new stream. */
  private static void readAll(CrailFile file, int bytes, long hint) throws Exception {
    CrailInputStream input = file.getDirectInputStream(hint);
    for (int at = 0; at < bytes; at += BLOCK) {
      assertEquals(BLOCK, Bytes.read(input, BLOCK).length);
    }
    input.close();
  }
}
