/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.NoSpaceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much space writers take ahead, with a hint and without: 32 blocks are there. */
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
  void spaceInAdvanceGrowsWithTheBytesWritten() throws Exception {
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

  @Test
  void theHintLimitsSpaceInAdvance() throws Exception {
    CrailOutputStream output = open("/exact", 12 * BLOCK);
    for (int written = 0; written < 12 * BLOCK; written += BLOCK / 4) {
      output.write(Bytes.buffer(new byte[BLOCK / 4])).get();
      output.sync().get();
      assertTrue(cluster.usage().usedBytes() <= 12 * BLOCK);
    }
    output.close();
    assertEquals(12 * BLOCK, cluster.usage().usedBytes());
  }

  @Test
  void withoutAHintALongWriterSoonWaitsForSpaceNoMore() throws Exception {
    assertSoonWaitsNoMore(open("/long", 0), 0);
  }

  @Test
  void behindItsHintALongWriterSoonWaitsForSpaceNoMore() throws Exception {
    assertSoonWaitsNoMore(open("/longer", BLOCK), BLOCK);
  }

  private void assertSoonWaitsNoMore(CrailOutputStream output, long announced) throws Exception {
    int writes = 0;
    for (int written = BLOCK / 4; written <= 12 * BLOCK; written += BLOCK / 4) {
      output.write(Bytes.buffer(new byte[BLOCK / 4])).get();
      writes++;
      // Behind what the stream has asked for meanwhile.
      output.sync().get();
      long used = cluster.usage().usedBytes();
      long most = announced + BLOCK + 2L * written;
      assertTrue(used <= most, used + " bytes taken, " + written + " written");
    }
    output.close();
    // Extents that have doubled from less than a block do not end where blocks end.
    assertTrue(cluster.usage().usedBytes() < 13 * BLOCK);
    assertEquals(0, cluster.usage().waitingBytes());
    long waited = writes - cached();
    assertTrue(waited <= 6, waited + " writes waited for their space");
  }

  /** Pieces whose space was there when they were to be written. */
  private long cached() {
    String counters = store.getStatistics().describe("core/output");
    return Long.parseLong(counters.replaceAll(".*cached (\\d+).*", "$1"));
  }

  @Test
  void withoutAHintLittleIsTakenForLittle() throws Exception {
    CrailOutputStream output = open("/little", 0);
    for (int written = BLOCK / 16; written < 2 * BLOCK; written += BLOCK / 16) {
      output.write(Bytes.buffer(new byte[BLOCK / 16])).get();
      output.sync().get();
      long used = cluster.usage().usedBytes();
      long most = Math.min(2L * written, written + BLOCK);
      assertTrue(used <= most, used + " bytes taken, " + written + " written");
    }
    output.close();
  }

  @Test
  void aLongFileDoesNotMakeALongWriter() throws Exception {
    CrailFile file = Bytes.write(store, "/long", new byte[6 * BLOCK]);
    CrailOutputStream output = file.getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[1_000])).get();
    output.sync().get();
    assertEquals(7 * BLOCK, cluster.usage().usedBytes());
    output.close();
  }

  @Test
  void aFailedRequestInAdvanceFailsNoWrite() throws Exception {
    CrailOutputStream output = open("/all", 0);
    for (int i = 0; i < BLOCKS; i++) {
      output.write(Bytes.buffer(new byte[BLOCK])).get();
    }
    ExecutionException full =
        assertThrows(ExecutionException.class, () -> output.write(Bytes.buffer(new byte[1])).get());
    assertInstanceOf(NoSpaceException.class, full.getCause());
    assertThrows(NoSpaceException.class, output::close);
    assertEquals(BLOCKS * BLOCK, cluster.usage().usedBytes());
  }
}
