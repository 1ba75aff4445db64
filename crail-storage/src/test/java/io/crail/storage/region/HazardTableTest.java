/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HazardTableTest {
  private static final int UNIT = Extent.MIN_LENGTH;
  private static final int UNITS = 8;
  private static final int THREADS = 2;
  private static final int ROUNDS = 200_000;

  private final HazardTable hazards = HazardTable.anonymous();
  private final Hazard hazard = hazards.claim(7);

  @Test
  void announcementsHoldTheirUnitsForOlderGenerationsOnly() {
    assertTrue(hazard.announce(3, 2 * UNIT + 1, UNIT, 5));
    // It reaches into the next unit.
    for (int unit = 0; unit < UNITS; unit++) {
      boolean touched = unit == 2 || unit == 3;
      assertEquals(touched, hazards.isHeld(3, unit * UNIT + 17, 1, 6), "unit " + unit);
      assertFalse(hazards.isHeld(3, unit * UNIT, UNIT, 5), "its own generation");
      assertFalse(hazards.isHeld(3, unit * UNIT, UNIT, 4), "a later write than one's own");
      assertFalse(hazards.isHeld(2, unit * UNIT, UNIT, 6), "another region");
    }
    assertTrue(hazards.isHeld(3, 0, UNITS * UNIT, 6));
    hazard.retract();
    assertFalse(hazards.isHeld(3, 0, UNITS * UNIT, 6));
  }

  @Test
  void theLastUnitOfTheLastRegionFits() {
    int region = (1 << 16) - 1;
    int end = RegionMemory.MAX_LENGTH;
    assertTrue(hazard.announce(region, end - UNIT, UNIT, 0));
    assertTrue(hazards.isHeld(region, end - 1, 1, 1));
    assertFalse(hazards.isHeld(region, end - 2 * UNIT, UNIT, 1));
    long piece = hazards.piece(0);
    assertEquals(region, Hazard.region(piece));
    assertEquals(end - UNIT, Hazard.offset(piece));
    assertEquals(UNIT, Hazard.length(piece));
    hazard.retract();
    assertTrue(hazard.announce(0, 0, end, 0));
    assertTrue(hazards.isHeld(0, end - 1, 1, 1));
  }

  @Test
  void aSlotServesOneWriteAtATime() {
    assertTrue(hazard.announce(0, 0, 1, 1));
    assertFalse(hazard.announce(0, 0, 1, 1));
    assertFalse(hazard.retire());
    hazard.retract();
    assertTrue(hazard.retire());
    assertTrue(hazard.retire());
    assertFalse(hazard.announce(0, 0, 1, 1));
    hazard.release();
    assertEquals(0, hazards.owner(0));
    assertNotNull(hazards.claim(8));
    assertEquals(8, hazards.owner(0));
    assertEquals(1, hazards.slots());
  }

  @Test
  void thereIsAnEnd() {
    for (int i = 1; i < HazardTable.SLOTS; i++) {
      assertNotNull(hazards.claim(i));
    }
    assertNull(hazards.claim(9));
    hazards.clear(7);
    assertNotNull(hazards.claim(9));
  }

  @Test
  void leftEntriesOfAProcessHoldNothing() {
    Hazard other = hazards.claim(8);
    assertTrue(hazard.announce(0, 0, UNIT, 1));
    assertTrue(other.announce(0, UNIT, UNIT, 1));
    hazards.clear(7);
    assertFalse(hazards.isHeld(0, 0, UNIT, 2));
    assertTrue(hazards.isHeld(0, UNIT, UNIT, 2));
  }

  @Test
  void aRevokedWriterLearnsOfItAndIsWaitedFor() {
    hazards.revoke(8);
    assertFalse(hazard.isRevoked());
    assertTrue(hazard.announce(0, 0, UNIT, 1));
    hazards.revoke(7);
    assertTrue(hazard.isRevoked());
    assertFalse(hazards.isIdle(7));
    assertTrue(hazards.isIdle(8));
    hazard.retract();
    assertTrue(hazards.isIdle(7));
    hazard.release();
    assertFalse(hazards.claim(7).isRevoked());
  }

  /** As by a thread that was stopped before it took the slot, while its writer was closed. */
  @Test
  void aSlotIsNotTakenForTheOwnerThatHadIt() {
    hazard.release();
    assertFalse(hazard.announce(0, 0, UNIT, 1), "of no writer");
    Hazard others = hazards.claim(8);
    assertEquals(8, hazards.owner(0));
    assertFalse(hazard.announce(0, 0, UNIT, 1), "of another writer");
    assertTrue(others.announce(0, 0, UNIT, 1));
  }

  @Test
  void aWriterOvertakenDuringACopyLearnsOfIt() throws Exception {
    int length = 1024 * UNIT;
    RegionMemory region = RegionMemory.anonymous(0, length, hazards);
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      int overtaken = 0;
      long end = System.nanoTime() + 60_000_000_000L;
      for (long generation = 1; overtaken < 20; generation += 2) {
        assertTrue(System.nanoTime() - end < 0, "overtaken " + overtaken + " times in a minute");
        long own = generation;
        Future<ErrorCode> writer =
            executor.submit(
                () -> {
                  assertTrue(hazard.announce(0, 0, length, own));
                  return region.write(hazard, 0, bytes, 0, length, own, true, length);
                });
        while (!writer.isDone() && !hazards.isHeld(0, 0, length, own + 1)) {
          Thread.onSpinWait();
        }
        boolean pinned = region.take(0, length, own + 1) == ErrorCode.SPACE_PINNED;
        ErrorCode written = writer.get(60, TimeUnit.SECONDS);
        if (pinned) {
          assertEquals(ErrorCode.STALE_EXTENT, written);
          overtaken++;
        }
      }
    } finally {
      executor.shutdownNow();
    }
  }

  /** Whoever finds that it may write is alone, however the threads are stopped. */
  @Test
  void twoGenerationsAreNeverWrittenAtATime() throws Exception {
    RegionMemory region = RegionMemory.anonymous(0, UNITS * UNIT, hazards);
    AtomicLong generations = new AtomicLong();
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger written = new AtomicInteger();
    AtomicInteger pinned = new AtomicInteger();
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Hazard own = hazards.claim(100 + i);
        threads.add(
            executor.submit(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    long generation = generations.incrementAndGet();
                    // Like a thread that is stopped before its look at the generation.
                    if (round % 1024 == 0) {
                      Thread.yield();
                    }
                    assertTrue(own.announce(0, 0, UNIT, generation));
                    ErrorCode code = region.take(0, UNIT, generation);
                    if (code == ErrorCode.OK) {
                      assertEquals(0, inside.getAndIncrement(), "two write");
                      if (round % 1024 == 512) {
                        Thread.yield();
                      }
                      inside.decrementAndGet();
                      written.incrementAndGet();
                    } else if (code == ErrorCode.SPACE_PINNED) {
                      pinned.incrementAndGet();
                    } else {
                      assertEquals(ErrorCode.STALE_EXTENT, code);
                    }
                    own.retract();
                  }
                  return null;
                }));
      }
      for (Future<?> thread : threads) {
        thread.get(60, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
    assertTrue(written.get() > 0 && pinned.get() > 0, written + " written, " + pinned + " pinned");
  }
}
