/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.ParentNotFoundException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
    cluster = EmbeddedCrail.builder().storage(64L << 20).set("crail.cachelimit", "4m").start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    place =
        new OutputPlace(
            store,
            List.of("/app"),
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            Duration.ofDays(1));
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

  private List<CrailBuffer> takeAllBuffers() throws Exception {
    List<CrailBuffer> buffers = new ArrayList<>();
    try {
      while (true) {
        buffers.add(store.allocateBuffer());
      }
    } catch (LimitExceededException e) {
      return buffers;
    }
  }

  private OutputPlace place(int turns, Duration patience) {
    return new OutputPlace(
        store,
        place.roots(),
        place.storageClass(),
        place.locationClass(),
        place.lease(),
        place.counts(),
        new WriterTurns(turns, patience));
  }

  /** Another thread writes, and waits. */
  private FutureTask<OutputWriter> begin(String attempt) throws InterruptedException {
    FutureTask<OutputWriter> writing = new FutureTask<>(() -> writer(attempt, 10));
    Thread thread = new Thread(writing);
    thread.start();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (Arrays.stream(thread.getStackTrace())
        .noneMatch(frame -> frame.getClassName().equals(WriterTurns.class.getName()))) {
      assertTrue(System.nanoTime() - end < 0 && !writing.isDone(), "it does not wait");
      Thread.sleep(1);
    }
    return writing;
  }

  @Test
  void waitsForABuffer() throws Exception {
    List<CrailBuffer> buffers = takeAllBuffers();
    FutureTask<OutputWriter> writing = begin("a");
    for (CrailBuffer buffer : buffers) {
      store.freeBuffer(buffer);
    }
    assertEquals(10, writing.get(60, TimeUnit.SECONDS).seal().index().length(0, 1));
  }

  @Test
  void doesNotWaitForABufferForever() throws Exception {
    place = place(1, Duration.ZERO);
    List<CrailBuffer> buffers = takeAllBuffers();
    for (int i = 0; i < 2; i++) {
      try (OutputWriter writer = new OutputWriter(place, ID, "a", 1)) {
        writer.beginPartition(0);
        assertThrows(LimitExceededException.class, () -> writer.write(new byte[10], 0, 10));
      }
      assertEquals(List.of(), files());
    }
    store.freeBuffer(buffers.get(0));
    writer("a", 10).seal();
  }

  @Test
  void whatIsAboveAQuotaIsNotTriedAgain() {
    WriterTurns turns = new WriterTurns(1, Duration.ofSeconds(60));
    AtomicInteger tries = new AtomicInteger();
    assertThrows(
        LimitExceededException.class,
        () ->
            turns.withBuffer(
                () -> {
                  tries.incrementAndGet();
                  throw ErrorCode.QUOTA_EXCEEDED.exception("/q");
                }));
    assertEquals(1, tries.get());
  }

  @Test
  void writesWhenItIsItsTurn() throws Exception {
    place = place(1, Duration.ofSeconds(60));
    OutputWriter first = writer("a", 10);
    FutureTask<OutputWriter> second = begin("b");
    assertEquals(List.of(place.path(ID) + ".a"), files());
    assertFalse(second.isDone());
    first.seal();
    second.get(60, TimeUnit.SECONDS).discard();
    first.discard();

    place = place(1, Duration.ZERO);
    try (OutputWriter third = writer("c", 10)) {
      assertThrows(LimitExceededException.class, () -> writer("d", 10));
      assertEquals(10, third.position());
    }
  }

  /** However a writer ends, the next one has its turn. */
  @Test
  void givesItsTurnBack() throws Exception {
    place = place(1, Duration.ZERO);
    writer("a", 10).close();
    OutputWriter sealed = writer("b", 10);
    sealed.seal();
    OutputWriter late = writer("c", 10);
    late.seal();
    late.discard();
    OutputWriter removed = writer("d", 10);
    place.removeShuffle(1);
    assertThrows(IOException.class, removed::seal);
    removed.close();
    assertThrows(ParentNotFoundException.class, () -> writer("e", 10));
    place.createShuffle(1);
    writer("f", 10).seal();
  }

  /** Before a byte of the run is written whose index no reader would take. */
  @Test
  void anIndexThatIsTooLargeIsRefusedByName() throws Exception {
    int most = (OutputIndex.MAX_BYTES - OutputIndex.TRAILER_BYTES) / OutputIndex.ENTRY_BYTES;
    LimitExceededException refusal =
        assertThrows(
            LimitExceededException.class, () -> new OutputWriter(place, ID, "a", most + 1));
    assertTrue(refusal.getMessage().contains(ID + ", with 1 runs of " + (most + 1)));
    new OutputWriter(place, ID, "a", most).close();
    assertThrows(
        LimitExceededException.class, () -> new OutputWriter(place, ID, "a", Integer.MAX_VALUE));
    assertEquals(List.of(), files());

    int runs = OutputIndex.TRAILER_BYTES + 2 * 3 * OutputIndex.ENTRY_BYTES;
    OutputWriter writer = new OutputWriter(place, ID, "a", 3, runs + Integer.BYTES);
    byte[] bytes = new byte[2 * OutputIndex.CHUNK_BYTES];
    writer.beginPartition(1);
    writer.write(bytes, 0, bytes.length);
    writer.endPartition();
    writer.endRun();
    writer.beginPartition(2);
    assertThrows(LimitExceededException.class, () -> writer.write(bytes, 0, bytes.length));
    writer.close();

    try (OutputWriter third = new OutputWriter(place, ID, "a", 3, runs)) {
      for (int run = 0; run < 2; run++) {
        third.beginPartition(0);
        third.write(bytes, 0, 1);
        third.endPartition();
        third.endRun();
      }
      refusal = assertThrows(LimitExceededException.class, () -> third.beginPartition(0));
      assertTrue(refusal.getMessage().contains("with 3 runs of 3 partitions"));
      assertEquals(runs, third.seal().index().fileBytes());
      third.discard();
    }
    assertEquals(List.of(), files());
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
