/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much space writers take who say that they will write a lot: 32 blocks are there. */
@Timeout(300)
class WriteHintTest {
  private static final int BLOCK = 1 << 20;
  private static final int BLOCKS = 32;

  private SimulatedCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster = new SimulatedCluster(Bytes.seed("write hints"));
    store = cluster.newStore("client");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private CrailOutputStream open(String path, long hint) throws Exception {
    return Bytes.createFile(store, path).getDirectOutputStream(hint);
  }

  @Test
  void manyMayAnnounceMuchAndWriteLittle() throws Exception {
    List<CrailOutputStream> outputs = new ArrayList<>();
    for (int i = 0; i < BLOCKS - 1; i++) {
      CrailOutputStream output = open("/much" + i, Integer.MAX_VALUE);
      output.write(Bytes.buffer(new byte[1_000])).get();
      outputs.add(output);
    }
    CrailOutputStream honest = open("/little", 0);
    honest.write(Bytes.buffer(new byte[1_000])).get();
    outputs.add(honest);
    for (CrailOutputStream output : outputs) {
      output.close();
    }
    assertEquals((BLOCKS - 1) * BLOCK + 4096, cluster.usage().usedBytes());
  }

  @Test
  void whatIsTakenAheadGrowsWithWhatIsWritten() throws Exception {
    CrailOutputStream output = open("/grows", Long.MAX_VALUE);
    long most = 0;
    for (int written = BLOCK / 4; written <= 12 * BLOCK; written += BLOCK / 4) {
      output.write(Bytes.buffer(new byte[BLOCK / 4])).get();
      // Behind what the stream has asked for meanwhile.
      output.sync().get();
      long used = cluster.usage().usedBytes();
      assertTrue(used <= 2 * BLOCK + 4L * written, used + " bytes taken, " + written + " written");
      most = Math.max(most, used - written);
    }
    assertTrue(most >= 4 * BLOCK, "it should grow soon, but there were " + most + " bytes ahead");
    output.close();
    assertEquals(12 * BLOCK, cluster.usage().usedBytes());
    assertEquals(0, cluster.usage().waitingBytes());
  }
}
