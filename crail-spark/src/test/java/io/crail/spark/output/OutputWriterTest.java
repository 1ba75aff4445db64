/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutputWriterTest {
  private static final OutputId ID = new OutputId(1, 2);

  private EmbeddedCrail cluster;
  private CrailStore store;
  private OutputPlace place;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().storage(64L << 20).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    place =
        new OutputPlace(
            store, List.of("/app"), CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT);
    place.createRoots();
    place.createShuffle(1);
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private OutputWriter writer(String attempt, int bytes) throws Exception {
    OutputWriter writer = new OutputWriter(place, ID, attempt, 1);
    writer.beginPartition(0);
    writer.write(new byte[bytes], 0, bytes);
    writer.endPartition();
    return writer;
  }

  private List<String> files() throws Exception {
    List<String> files = new ArrayList<>();
    Iterator<CrailNode> children = store.lookup("/app/shuffle-1").get().asContainer().listStatus();
    children.forEachRemaining(child -> files.add(child.getPath()));
    return files;
  }

  @Test
  void anInterruptedThreadDeletesItsFileAndStaysInterrupted() throws Exception {
    OutputWriter writer = writer("a", 3 << 20);
    Thread.currentThread().interrupt();
    writer.close();
    assertTrue(Thread.interrupted());
    assertEquals(List.of(), files());
  }

  @Test
  void anInterruptedCreateLeavesNoFile() throws Exception {
    Thread.currentThread().interrupt();
    try {
      // An answer that is there needs no wait, and so no interrupt ends the create.
      writer("a", 10).close();
    } catch (InterruptedIOException e) {
      assertEquals("interrupted", e.getMessage());
    }
    assertTrue(Thread.interrupted());
    assertEquals(List.of(), files());
  }

  @Test
  void anInterruptedSealLeavesNoFile() throws Exception {
    OutputWriter writer = writer("a", 10);
    Thread.currentThread().interrupt();
    boolean sealed = true;
    try {
      writer.seal();
    } catch (InterruptedIOException e) {
      sealed = false;
    }
    assertTrue(Thread.interrupted());
    if (sealed) {
      writer.discard();
    } else {
      writer.close();
    }
    assertEquals(List.of(), files());
  }

  @Test
  void aSealedOutputStaysUntilItIsDiscarded() throws Exception {
    OutputWriter writer = writer("a", 10);
    writer.seal();
    writer.close();
    assertEquals(List.of(place.path(ID)), files());
    writer.discard();
    assertEquals(List.of(), files());
  }

  @Test
  void theAttemptThatLostDeletesOnlyItsOwn() throws Exception {
    writer("a", 10).seal();
    OutputWriter second = writer("b", 20);
    assertArrayEquals(new long[] {10}, second.seal().index().lengths());
    second.discard();
    assertEquals(List.of(place.path(ID)), files());
  }

  /** Whatever the calls are, there is a checksum for each chunk. */
  @Test
  void checksumsDoNotDependOnHowThePartitionIsWritten() throws Exception {
    byte[] bytes = new byte[3 * OutputIndex.CHUNK_BYTES];
    new Random(1).nextBytes(bytes);
    for (int step : new int[] {bytes.length, OutputIndex.CHUNK_BYTES, 100_003}) {
      try (OutputWriter writer = new OutputWriter(place, ID, "a", 2)) {
        writer.beginPartition(1);
        for (int at = 0; at < bytes.length; at += step) {
          int count = Math.min(step, bytes.length - at);
          if (at % 2 == 0) {
            writer.write(bytes, at, count);
          } else {
            writer.write(ByteBuffer.wrap(bytes, at, count));
          }
        }
        writer.endPartition();
        OutputIndex index = writer.seal().index();
        writer.discard();
        assertEquals(3, index.chunks(0, 1));
        for (int chunk = 0; chunk < 3; chunk++) {
          CRC32C crc = new CRC32C();
          crc.update(bytes, chunk * OutputIndex.CHUNK_BYTES, OutputIndex.CHUNK_BYTES);
          assertEquals((int) crc.getValue(), index.checksum(0, 1, chunk), step + "");
        }
      }
    }
  }
}
