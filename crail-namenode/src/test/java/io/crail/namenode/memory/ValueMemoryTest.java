/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the cells for values: no two overlap, and all memory serves any length again. */
class ValueMemoryTest {
  private static final int LONGEST = 64 << 10;

  /** A cell that is taken. */
  private record Cell(long address, int length) {}

  @Test
  void aCellIsLittleLongerThanItsValue() {
    for (int length = 1; length <= LONGEST; length++) {
      int cell = new SizeClass(SizeClass.indexOf(length)).cell();
      assertTrue(cell >= length, length + " bytes in " + cell);
      assertTrue(cell - length < 16 || cell <= length * 5L / 4, length + " bytes in " + cell);
      assertTrue(ValueMemory.footprint(length) >= cell);
      assertTrue(ValueMemory.footprint(length) <= cell * 8L / 7);
    }
    assertEquals(16, ValueMemory.footprint(1));
    assertEquals(LONGEST, ValueMemory.footprint(LONGEST));
  }

  @Test
  void allThatWasGivenBackServesAnyLengthAgain() {
    ValueMemory memory = new ValueMemory(1 << 20);
    for (int length : new int[] {1, 100, 5000, LONGEST, 40_000, 16}) {
      List<Long> taken = takeAll(memory, length);
      assertTrue(
          taken.size() * (long) ValueMemory.footprint(length)
              >= ValueMemory.mostBytes(1 << 20) * 15 / 16);
      assertTrue(memory.bytes() <= ValueMemory.mostBytes(1 << 20));
      taken.forEach(address -> memory.give(address));
    }
  }

  private static List<Long> takeAll(ValueMemory memory, int length) {
    List<Long> taken = new ArrayList<>();
    for (long at = memory.take(length); at != ValueMemory.NONE; at = memory.take(length)) {
      taken.add(at);
    }
    return taken;
  }

  @Test
  void growsWithItsValues() {
    ValueMemory memory = new ValueMemory(1L << 30);
    assertEquals(0, memory.bytes());
    memory.take(1);
    assertEquals(Slab.LENGTH, memory.bytes());
    for (int i = 0; i < 12; i++) {
      memory.take(LONGEST);
    }
    assertEquals(4 * Slab.LENGTH, memory.bytes());
  }

  @Test
  void noTwoCellsOverlap() {
    long seed = TestStore.seed();
    Random random = new Random(seed);
    ValueMemory memory = new ValueMemory(2 << 20);
    TreeMap<Long, Integer> taken = new TreeMap<>();
    List<Cell> cells = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      if (random.nextInt(1000) == 0) {
        cells.forEach(cell -> memory.give(cell.address));
        cells.clear();
        taken.clear();
      } else if (random.nextInt(5) < 2 && !cells.isEmpty()) {
        Cell cell = cells.remove(random.nextInt(cells.size()));
        taken.remove(cell.address);
        memory.give(cell.address);
      } else {
        int length = 1 + random.nextInt(1 << random.nextInt(17));
        long address = memory.take(length);
        if (address != ValueMemory.NONE) {
          Map.Entry<Long, Integer> before = taken.floorEntry(address);
          Map.Entry<Long, Integer> after = taken.ceilingEntry(address);
          assertTrue(before == null || before.getKey() + before.getValue() <= address);
          assertTrue(after == null || address + length <= after.getKey());
          assertEquals(
              address >>> Slab.LOG_LENGTH, address + length - 1 >>> Slab.LOG_LENGTH, "two slabs");
          taken.put(address, length);
          cells.add(new Cell(address, length));
        }
      }
    }
  }

  @Test
  void threadsTakeAndGiveAtOnce() throws Exception {
    long seed = TestStore.seed();
    ValueMemory memory = new ValueMemory(1 << 20);
    List<CompletableFuture<Void>> workers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(seed + i);
      byte own = (byte) (i + 1);
      workers.add(CompletableFuture.runAsync(() -> work(memory, random, own)));
    }
    for (CompletableFuture<Void> worker : workers) {
      worker.get(60, TimeUnit.SECONDS);
    }
    // Nothing is left behind.
    assertTrue(takeAll(memory, LONGEST).size() * (long) LONGEST == memory.bytes());
  }

  private static void work(ValueMemory memory, Random random, byte own) {
    ByteBuffer bytes = ByteBuffer.allocate(3000);
    ByteBuffer read = ByteBuffer.allocate(3000);
    for (int i = 0; i < bytes.capacity(); i++) {
      bytes.put(i, own);
    }
    ArrayDeque<Cell> cells = new ArrayDeque<>();
    for (int i = 0; i < 20_000; i++) {
      if (cells.size() < 30) {
        int length = 1 + random.nextInt(bytes.capacity());
        long address = memory.take(length);
        assertNotEquals(ValueMemory.NONE, address);
        memory.write(address, bytes, 0, length);
        cells.add(new Cell(address, length));
      } else {
        Cell cell = cells.poll();
        memory.read(cell.address, read, 0, cell.length);
        assertEquals(bytes.slice(0, cell.length), read.slice(0, cell.length));
        memory.give(cell.address);
      }
    }
    cells.forEach(cell -> memory.give(cell.address));
  }
}
