/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Generation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class GenerationTableTest {
  private static final int UNIT = 4096;
  private static final int LENGTH = 64 * UNIT;
  private static final int STRIDE = 256;

  private final GenerationTable table =
      new GenerationTable(ByteBuffer.allocateDirect(GenerationTable.lengthFor(LENGTH)));
  private final long seed = Long.getLong("crail.seed", System.nanoTime());

  @Test
  void aUnitIsReadOnlyInTheGenerationThatWroteIt() {
    assertEquals(ErrorCode.OUT_OF_RANGE, table.verify(0, 1, 5));
    assertEquals(ErrorCode.OK, table.adopt(UNIT, 1, 5));
    assertEquals(ErrorCode.OK, table.verify(UNIT, UNIT, 5));
    assertEquals(ErrorCode.OUT_OF_RANGE, table.verify(UNIT, UNIT, 6));
    assertEquals(ErrorCode.STALE_EXTENT, table.verify(UNIT, UNIT, 4));
  }

  @Test
  void aRangeTouchesTheUnitsOfItsFirstAndLastByte() {
    table.adopt(2 * UNIT - 1, 2, 9);
    assertEquals(0, table.generation(0));
    assertEquals(9, table.generation(UNIT));
    assertEquals(9, table.generation(3 * UNIT - 1));
    assertEquals(0, table.generation(3 * UNIT));
    assertEquals(ErrorCode.OK, table.verify(UNIT, 2 * UNIT, 9));
    assertEquals(ErrorCode.OUT_OF_RANGE, table.verify(UNIT - 1, 2 * UNIT, 9));
    assertEquals(ErrorCode.OUT_OF_RANGE, table.verify(UNIT, 2 * UNIT + 1, 9));
  }

  @Test
  void theLastUnitOfARegionHasACell() {
    assertEquals(ErrorCode.OK, table.adopt(LENGTH - 1, 1, 3));
    assertEquals(ErrorCode.OK, table.verify(LENGTH - UNIT, UNIT, 3));
  }

  @Test
  void aFenceRefusesAllThatWereGivenOutUsedOrNot() {
    table.adopt(3 * UNIT, 2 * UNIT, 70);
    // A wrong report costs its own unit and moves no other.
    table.adopt(9 * UNIT, 1, Long.MAX_VALUE);
    long fence = table.fence();
    assertEquals(70 + Generation.GAP, fence);
    for (int unit = 0; unit < LENGTH / UNIT; unit++) {
      assertEquals(unit == 9 ? Long.MAX_VALUE : fence, table.generation(unit * UNIT));
    }
    assertEquals(ErrorCode.STALE_EXTENT, table.verify(3 * UNIT, UNIT, 70));
    assertEquals(ErrorCode.STALE_EXTENT, table.adopt(0, 1, 71));
    assertEquals(ErrorCode.STALE_EXTENT, table.adopt(0, 1, fence - 1));
    assertEquals(ErrorCode.OUT_OF_RANGE, table.verify(0, UNIT, fence + 1));
    assertEquals(ErrorCode.OK, table.adopt(0, 9 * UNIT, fence + 1));
  }

  @Test
  void oneLaterUnitRefusesAWholeRangeAndChangesNothing() {
    table.adopt(5 * UNIT, 1, 20);
    assertEquals(ErrorCode.STALE_EXTENT, table.adopt(0, LENGTH, 10));
    assertEquals(0, table.generation(0));
    assertEquals(0, table.generation(6 * UNIT));
    assertEquals(ErrorCode.STALE_EXTENT, table.verify(0, LENGTH, 10));
  }

  @Test
  void aUnitOfALaterGenerationCountsMoreThanOneThatWasNeverWritten() {
    table.adopt(3 * UNIT, UNIT, 20);
    assertEquals(ErrorCode.STALE_EXTENT, table.verify(0, 4 * UNIT, 10));
  }

  /** Whatever the interleaving, a cell never falls, and a success leaves no earlier cell behind. */
  @Test
  void concurrentWritersOnlyRaiseCells() throws Exception {
    System.out.println("-Dcrail.seed=" + seed);
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads + 1);
    AtomicLong generations = new AtomicLong();
    AtomicBoolean done = new AtomicBoolean();
    CyclicBarrier barrier = new CyclicBarrier(threads + 1);
    try {
      List<Future<Long>> writers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Random random = new Random(seed + i);
        writers.add(
            executor.submit(
                () -> {
                  barrier.await(60, TimeUnit.SECONDS);
                  long adopted = 0;
                  for (int round = 0; round < 20_000; round++) {
                    int at = random.nextInt(LENGTH);
                    int length = 1 + random.nextInt(LENGTH - at);
                    long generation = generations.incrementAndGet() - random.nextInt(3);
                    if (table.adopt(at, length, generation) == ErrorCode.OK) {
                      adopted++;
                      ErrorCode code = table.verify(at, length, generation);
                      assertTrue(code == ErrorCode.OK || code == ErrorCode.STALE_EXTENT);
                    }
                  }
                  return adopted;
                }));
      }
      Future<?> watcher =
          executor.submit(
              () -> {
                long[] last = new long[LENGTH / UNIT];
                barrier.await(60, TimeUnit.SECONDS);
                while (!done.get()) {
                  for (int unit = 0; unit < last.length; unit++) {
                    long now = table.generation(unit * UNIT);
                    assertTrue(now >= last[unit], "a cell has fallen");
                    last[unit] = now;
                  }
                }
                return null;
              });
      for (Future<Long> writer : writers) {
        assertTrue(writer.get(60, TimeUnit.SECONDS) > 0);
      }
      done.set(true);
      watcher.get(60, TimeUnit.SECONDS);
    } finally {
      done.set(true);
      executor.shutdownNow();
    }
  }

  /** As above, on one cell, where the threads meet all the time. */
  @Test
  void theLargestGenerationWinsACell() throws Exception {
    int threads = 4;
    int rounds = 200_000;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    AtomicLong generations = new AtomicLong();
    CyclicBarrier barrier = new CyclicBarrier(threads);
    try {
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        writers.add(
            executor.submit(
                () -> {
                  barrier.await(60, TimeUnit.SECONDS);
                  for (int round = 0; round < rounds; round++) {
                    long generation = generations.incrementAndGet();
                    boolean adopted = table.adopt(0, 1, generation) == ErrorCode.OK;
                    long present = table.generation(0);
                    assertTrue(present >= generation, "a cell has fallen");
                    assertTrue(adopted || present > generation);
                  }
                  return null;
                }));
      }
      for (Future<?> writer : writers) {
        writer.get(60, TimeUnit.SECONDS);
      }
      assertEquals((long) threads * rounds, table.generation(0));
    } finally {
      executor.shutdownNow();
    }
  }

  private static ErrorCode write(
      RegionMemory region, Hazard hazard, ByteBuffer bytes, int length, long generation) {
    assertTrue(hazard.announce(0, 0, length, generation));
    return region.write(hazard, 0, bytes, 0, length, generation, true, length);
  }

  /** The seqlock: a read that is confirmed holds bytes of its own generation alone. */
  @Test
  void aConfirmedReadHoldsTheBytesOfItsGeneration() throws Exception {
    // Long enough that a copy is overtaken nearly always.
    int length = 512 * UNIT;
    HazardTable hazards = HazardTable.anonymous();
    Hazard hazard = hazards.claim(1);
    RegionMemory region = RegionMemory.anonymous(0, length, hazards);
    AtomicLong current = new AtomicLong(1);
    write(region, hazard, filled(length, 1), length, 1);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Future<?> writer =
          executor.submit(
              () -> {
                ByteBuffer bytes = ByteBuffer.allocateDirect(length);
                for (long generation = 2; generation < 600; generation++) {
                  fill(bytes, generation);
                  assertEquals(ErrorCode.OK, write(region, hazard, bytes, length, generation));
                  current.set(generation);
                }
              });
      ByteBuffer target = ByteBuffer.allocateDirect(length);
      long confirmed = 0;
      while (!writer.isDone() || confirmed == 0) {
        long generation = current.get();
        ErrorCode code = region.read(0, target, 0, length, generation);
        if (code == ErrorCode.OK) {
          confirmed++;
          for (int at = 0; at < length; at += STRIDE) {
            assertEquals(generation, target.getLong(at), "bytes of another generation");
          }
        } else {
          assertEquals(ErrorCode.STALE_EXTENT, code);
        }
      }
      writer.get(60, TimeUnit.SECONDS);
    } finally {
      executor.shutdownNow();
    }
  }

  private static ByteBuffer filled(int length, long value) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    fill(buffer, value);
    return buffer;
  }

  private static void fill(ByteBuffer buffer, long value) {
    for (int at = 0; at < buffer.capacity(); at += STRIDE) {
      buffer.putLong(at, value);
    }
  }
}
