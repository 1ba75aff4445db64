/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which extents overlap others. */
class ExtentUnitsTest {
  private static final int UNIT = Extent.MIN_LENGTH;

  /** An extent that was sealed after its first byte. */
  private static Placed extent(int region, long offset, int length) {
    return new Placed(1, 0, 1, new Place(7, region, offset, 1), length);
  }

  @Test
  void regionsHaveTheirOwnUnits() {
    ExtentUnits units = new ExtentUnits();
    assertFalse(units.add(extent(0, 0, 1 << 20)));
    assertFalse(units.add(extent(1, 0, 1 << 20)));
    assertFalse(units.touches(new Placed(1, 0, 1, new Place(8, 0, 0, 1), 1 << 20)));
    assertTrue(units.touches(extent(0, (1 << 20) - 1, 1)));
    assertFalse(units.touches(extent(0, 1 << 20, 1)));
  }

  @Test
  void aUnitHasOneOwnerEvenIfThatHasFewBytesInIt() {
    ExtentUnits units = new ExtentUnits();
    assertFalse(units.add(extent(0, 0, 1)));
    assertTrue(units.touches(extent(0, UNIT - 1, 1)));
    assertFalse(units.touches(extent(0, UNIT, UNIT)));
  }

  /** As a plain set of bits says. */
  @Test
  void overlapsAreThoseOfASetOfUnits() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      ExtentUnits units = new ExtentUnits();
      BitSet model = new BitSet();
      for (int i = 0; i < 60; i++) {
        int length = UNIT << random.nextInt(12);
        long offset = (long) random.nextInt((64 << 20) / length) * length;
        int bytes = random.nextBoolean() ? length : 1 + random.nextInt(length);
        int from = (int) (offset / UNIT);
        int to = (int) ((offset + bytes - 1) / UNIT) + 1;
        int next = model.nextSetBit(from);
        boolean overlaps = next >= 0 && next < to;
        assertEquals(overlaps, units.touches(extent(3, offset, bytes)));
        assertEquals(overlaps, units.add(extent(3, offset, bytes)));
        model.set(from, to);
      }
    }
  }
}
