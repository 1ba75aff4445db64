/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.HOST;
import static io.crail.spark.fetch.MapOutputs.MIB;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailResult;
import io.crail.Upcoming;
import io.crail.common.error.LimitExceededException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.memory.BufferPool;
import io.crail.spark.fetch.FetchMemory.Piece;
import io.crail.spark.output.OutputId;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FetchMemoryTest {
  private static final int BUFFER = 4096;

  private final BufferPool pool = new BufferPool(BUFFER, 8 * BUFFER);
  private final FetchMemory memory = new FetchMemory(pool, 2 * BUFFER);

  private long lent() {
    return pool.lentCount() - pool.returnedCount();
  }

  @Test
  void lendsItsShareAndNoMore() throws Exception {
    List<Piece> pieces = new ArrayList<>();
    for (int bytes = 0; bytes < 2 * BUFFER; bytes += 1024) {
      pieces.add(memory.take(1024));
    }
    assertThrows(LimitExceededException.class, () -> memory.take(1));
    for (int i = 0; i < 6; i++) {
      pool.allocateBuffer();
    }
    pieces.subList(0, 3).forEach(Piece::release);
    assertThrows(LimitExceededException.class, () -> memory.take(1));
    pieces.get(3).release();
    assertEquals(BUFFER, memory.take(2 * BUFFER).length());
  }

  @Test
  void releasedMemoryGoesBackToTheStore() throws Exception {
    Piece large = memory.take(3000);
    Piece rest = memory.take(3000);
    Piece next = memory.take(10);
    assertEquals(BUFFER - 3000, rest.length());
    assertEquals(2 * BUFFER, memory.lentBytes());
    large.release();
    rest.release();
    assertEquals(BUFFER, memory.lentBytes());
    next.release();
    // The buffer at hand is used again, from its beginning.
    Piece again = memory.take(BUFFER);
    assertEquals(BUFFER, again.length());
    memory.close();
    assertEquals(1, lent());
    again.release();
    assertEquals(0, lent());
  }

  /** A read of a store. */
  private static final class Read extends CompletableFuture<CrailResult>
      implements Upcoming<CrailResult> {
    @Override
    public CrailResult early() throws Exception {
      return get();
    }
  }

  /** It goes back when its read ends, without a call that wants memory. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void memoryThatAReadMayStillWriteIsLent(boolean succeeds) throws Exception {
    Read read = new Read();
    memory.take(BUFFER).releaseAfter(read);
    memory.take(BUFFER);
    assertThrows(LimitExceededException.class, () -> memory.take(1));
    assertEquals(2, lent());
    if (succeeds) {
      read.complete(() -> BUFFER);
    } else {
      read.completeExceptionally(new IllegalStateException("late"));
    }
    assertEquals(1, lent());
    memory.take(BUFFER).releaseAfter(null);
    assertEquals(2, lent(), "the buffer at hand");
    memory.take(BUFFER).releaseAfter(read);
    memory.close();
    assertEquals(1, lent());
  }

  /** Reads of a real store report their end. */
  @Test
  void anInterruptedThreadGivesMemoryBack() throws Exception {
    try (MapOutputs outputs = new MapOutputs(EmbeddedCrail.builder().mapped(false));
        FetchMemory real = new FetchMemory(outputs.store, MIB)) {
      OutputId id = new OutputId(1, 1);
      outputs.write(id, "a", new byte[][][] {{new byte[MIB]}});
      RangeReads reads = new RangeReads(real, outputs.open(id).file());
      reads.add(0, MIB);
      Thread.currentThread().interrupt();
      reads.release();
      assertTrue(Thread.interrupted());
      real.close();
      MapOutputs.await("the end of the read", () -> real.lentBytes() == 0);
    }
  }

  /** Blocks that have not been used yet, more than the share: the rest is read later. */
  @Test
  void writersHaveBuffersWhileBlocksWait() throws Exception {
    EmbeddedCrail.Builder builder =
        EmbeddedCrail.builder().mapped(false).set("crail.cachelimit", "8m");
    try (MapOutputs outputs = new MapOutputs(builder)) {
      OutputId id = new OutputId(1, 1);
      byte[][] run = new byte[40][];
      Random random = new Random(1);
      Arrays.setAll(run, i -> MapOutputs.bytes(random, 400_000));
      outputs.write(id, "a", new byte[][][] {run});
      List<BlockRange> blocks = new ArrayList<>();
      for (int i = 0; i < run.length; i++) {
        blocks.add(new BlockRange(String.valueOf(i), id, i, i + 1));
      }
      Map<String, BlockData> held = new ConcurrentHashMap<>();
      MapOutputs.Results results =
          new MapOutputs.Results(run.length) {
            @Override
            public void fetched(BlockRange block, BlockData data) {
              held.put(block.name(), data);
              put(block, data);
            }
          };
      Fetcher.Limits limits = new Fetcher.Limits(2, 4L * MIB, MIB, Duration.ofSeconds(1));
      try (Fetcher fetcher = new Fetcher(outputs.place, limits)) {
        fetcher.fetch(HOST, blocks, results);
        results.await();
        assertEquals(run.length, held.size());
        outputs.write(new OutputId(1, 2), "a", new byte[][][] {{new byte[3 * MIB]}});
        for (int i = 0; i < run.length; i++) {
          BlockData data = held.get(String.valueOf(i));
          try (InputStream in = data.open()) {
            assertArrayEquals(run[i], in.readAllBytes());
          }
          data.release();
        }
      }
      List<CrailBuffer> all = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        all.add(outputs.store.allocateBuffer());
      }
      assertThrows(LimitExceededException.class, () -> outputs.store.allocateBuffer());
      for (CrailBuffer buffer : all) {
        outputs.store.freeBuffer(buffer);
      }
      assertTrue(held.values().stream().anyMatch(StreamedBlock.class::isInstance));
    }
  }
}
