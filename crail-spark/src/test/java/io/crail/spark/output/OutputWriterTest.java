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
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
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
}
