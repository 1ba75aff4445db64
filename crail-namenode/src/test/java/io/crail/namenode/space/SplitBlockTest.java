/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SplitBlockTest {
  private static final int MAX_ORDER = 8;
  private static final int UNITS = 1 << MAX_ORDER;

  @Test
  void randomPiecesNeverOverlapAndMergeAgain() {
    Random random = new Random(TestStore.seed());
    SplitBlock block = new SplitBlock(0, 0, MAX_ORDER);
    BitSet taken = new BitSet();
    List<int[]> pieces = new ArrayList<>();
    for (int step = 0; step < 100_000; step++) {
      int order = random.nextInt(random.nextInt(MAX_ORDER) + 1);
      if (random.nextInt(10) == 0) {
        // At a place that may be taken in whole or in part.
        int unit = random.nextInt(UNITS >> order) << order;
        boolean isFree = taken.get(unit, unit + (1 << order)).isEmpty();
        assertEquals(isFree, block.claim(unit, order));
        if (isFree) {
          taken.set(unit, unit + (1 << order));
          pieces.add(new int[] {unit, order});
        }
      } else if (random.nextInt(100) < 55 && block.largest() > order) {
        int unit = block.take(order);
        assertEquals(0, unit % (1 << order), "aligned");
        assertEquals(0, taken.get(unit, unit + (1 << order)).cardinality(), "overlap");
        taken.set(unit, unit + (1 << order));
        pieces.add(new int[] {unit, order});
      } else if (!pieces.isEmpty()) {
        int[] piece = pieces.remove(random.nextInt(pieces.size()));
        block.give(piece[0], piece[1]);
        taken.clear(piece[0], piece[0] + (1 << piece[1]));
      }
      if (step % 500 == 0) {
        assertEquals(UNITS - taken.cardinality(), block.countFreeUnits());
        assertEquals(largestFree(taken), block.largest());
      }
    }
    for (int[] piece : pieces) {
      assertFalse(block.isFree());
      block.give(piece[0], piece[1]);
    }
    assertTrue(block.isFree());
    assertEquals(UNITS, block.countFreeUnits());
  }

  /** The order plus one of the largest aligned free run. */
  private static int largestFree(BitSet taken) {
    for (int order = MAX_ORDER; order >= 0; order--) {
      for (int unit = 0; unit < UNITS; unit += 1 << order) {
        if (taken.get(unit, unit + (1 << order)).isEmpty()) {
          return order + 1;
        }
      }
    }
    return 0;
  }

  @Test
  void smallPiecesAreTakenWhereNothingLargerIsLost() {
    SplitBlock block = new SplitBlock(0, 0, MAX_ORDER);
    int half = block.take(MAX_ORDER - 1);
    int unit = block.take(0);
    block.give(half, MAX_ORDER - 1);
    for (int i = 1; i < UNITS / 2; i++) {
      assertEquals(unit / (UNITS / 2), block.take(0) / (UNITS / 2));
      assertEquals(MAX_ORDER, block.largest(), "the other half stays whole");
    }
  }

  @Test
  void aPieceThatWasNotTakenIsABug() {
    SplitBlock block = new SplitBlock(0, 0, MAX_ORDER);
    int unit = block.take(3);
    assertThrows(AssertionError.class, () -> block.give(unit, 2));
    assertThrows(AssertionError.class, () -> block.give(unit + 8, 3));
    assertThrows(AssertionError.class, () -> block.give(unit, 4));
    block.give(unit, 3);
    assertThrows(AssertionError.class, () -> block.give(unit, 3));
  }
}
