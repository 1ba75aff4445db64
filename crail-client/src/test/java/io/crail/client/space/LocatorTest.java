/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The locations that a stream knows. */
class LocatorTest {
  private static final int BLOCK = 1 << 20;
  private static final int ANSWER = 64;
  private static final long NOW = 100;

  private static final class Known extends Locator {
    Known() {
      super(List.of(), 0);
    }

    @Override
    public void locate(LocationWaiter operation, long position) {}

    @Override
    public void issuedUpTo(long position, long nowNanos) {}
  }

  private static List<Extent> blocks(int from, int count) {
    List<Extent> blocks = new ArrayList<>();
    for (int i = from; i < from + count; i++) {
      blocks.add(new Extent((long) i * BLOCK, BLOCK, new Place(1, 0, 0, i)));
    }
    return blocks;
  }

  @Test
  void extentsAheadAreKeptWhenThereAreTooMany() {
    Known known = new Known();
    for (int block = 0; block < 3 * Locator.MAX_KNOWN; block += ANSWER) {
      known.add(blocks(block, ANSWER), NOW + 1);
      // An answer is asked for when half of the last one has not been used.
      int unused = Math.max(0, block - ANSWER / 2);
      for (int i = unused; i < block + ANSWER; i++) {
        LocatedExtent located = known.find((long) i * BLOCK + 1, NOW);
        assertNotNull(located, "block " + i + " after " + block);
        assertEquals(i, located.extent().place().generation());
      }
    }
    assertNull(known.find(0, NOW));
  }

  @Test
  void anAnswerTakesThePlaceOfWhatItOverlaps() {
    Known known = new Known();
    known.add(blocks(0, 4), NOW + 1);
    known.add(List.of(new Extent(BLOCK, 2 * BLOCK, new Place(2, 0, 0, 9))), NOW + 1);
    assertEquals(0, known.find(BLOCK - 1, NOW).extent().place().generation());
    assertEquals(9, known.find(BLOCK, NOW).extent().place().generation());
    assertEquals(9, known.find(3L * BLOCK - 1, NOW).extent().place().generation());
    assertEquals(3, known.find(3L * BLOCK, NOW).extent().place().generation());
    assertNull(known.find(3L * BLOCK, NOW + 1), "not good any more");
  }
}
