/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.common.error.LimitExceededException;
import io.crail.memory.BufferMemory;
import io.crail.memory.BufferPool;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StreamMemoryTest {
  private static final int BUFFER = 1 << 20;
  private static final int SLICE = 512 << 10;

  /** A tier must recognize reused memory, or each stream would register it again. */
  @Test
  void allPiecesAreCutFromWhatThePoolHasAllocated() throws Exception {
    try (BufferPool pool = new BufferPool(BUFFER, BUFFER)) {
      CrailBuffer lent = pool.allocateBuffer();
      ByteBuffer root = BufferMemory.rootOf(lent);
      pool.freeBuffer(lent);
      StreamMemory memory = new StreamMemory(pool, SLICE);
      for (int stream = 0; stream < 3; stream++) {
        try (SliceMemory slices = new SliceMemory(memory, 10)) {
          for (int i = 0; i < 10; i++) {
            assertSame(root, slices.take(1000).root());
          }
          assertNull(slices.take(1000));
        }
        assertEquals(0, pool.lentBytes());
      }
    }
  }

  @Test
  void viewsOfAUsersBufferAreCutFromIt() {
    ByteBuffer own = ByteBuffer.allocateDirect(100);
    assertSame(own, BufferMemory.rootOf(OffHeapBuffer.wrap(own)));
    CrailBuffer view = OffHeapBuffer.wrap(own).position(10).limit(20);
    assertSame(own, BufferMemory.rootOf(view.slice().slice()));
  }

  @Test
  void aPieceIsAsLongAsItsStreamHasUseFor() throws Exception {
    StreamMemory memory = new StreamMemory(new BufferPool(BUFFER, 100 * BUFFER), SLICE);
    assertEquals(4096, memory.take(1).length());
    assertEquals(8192, memory.take(4097).length());
    assertEquals(SLICE, memory.take(SLICE - 1).length());
    assertEquals(SLICE, memory.take(10 * SLICE).length());
  }

  /** So the first streams do not take everything. */
  @Test
  void piecesGetShorterWhenLessIsFree() throws Exception {
    BufferPool pool = new BufferPool(BUFFER, 32 * BUFFER);
    StreamMemory memory = new StreamMemory(pool, SLICE);
    List<StreamMemory.Piece> taken = new ArrayList<>();
    assertThrows(
        LimitExceededException.class,
        () -> {
          while (true) {
            taken.add(memory.take(SLICE));
          }
        });
    assertEquals(32 * BUFFER, taken.stream().mapToLong(StreamMemory.Piece::length).sum());
    assertEquals(SLICE, taken.get(31).length());
    assertTrue(taken.size() > 600, "only " + taken.size());
    assertTrue(taken.stream().anyMatch(piece -> piece.length() == SLICE / 64));
    // What comes back may be of any length, and is used.
    memory.release(taken.get(0));
    assertEquals(SLICE, memory.take(SLICE).length());
    taken.subList(1, taken.size()).forEach(memory::release);
    assertEquals(BUFFER, pool.lentBytes());
    assertEquals(SLICE, memory.take(SLICE).length());
  }

  @Test
  void piecesNeverOverlap() throws Exception {
    Random random = new Random(5);
    BufferPool pool = new BufferPool(BUFFER, 8 * BUFFER);
    StreamMemory memory = new StreamMemory(pool, SLICE);
    Deque<StreamMemory.Piece> taken = new ArrayDeque<>();
    for (int i = 0; i < 3_000; i++) {
      if (random.nextInt(5) < 3) {
        try {
          StreamMemory.Piece piece =
              memory.take(random.nextInt(random.nextBoolean() ? SLICE : 20_000));
          for (int at = 0; at < piece.length(); at += 4096) {
            piece.memory().putInt(at, i);
          }
          piece.memory().limit(i + 4);
          taken.add(piece);
        } catch (LimitExceededException e) {
          checkAndRelease(memory, taken.poll());
        }
      } else if (!taken.isEmpty()) {
        checkAndRelease(memory, random.nextBoolean() ? taken.pollFirst() : taken.pollLast());
      }
    }
    taken.forEach(piece -> checkAndRelease(memory, piece));
    assertEquals(0, pool.lentBytes());
  }

  /** A piece has its number where it begins on each page, and in its limit. */
  private static void checkAndRelease(StreamMemory memory, StreamMemory.Piece piece) {
    int number = piece.memory().limit() - 4;
    piece.memory().clear();
    for (int at = 0; at < piece.length(); at += 4096) {
      assertEquals(number, piece.memory().getInt(at));
    }
    memory.release(piece);
  }
}
