/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Region;
import org.junit.jupiter.api.Test;

class SpaceAuditTest {
  private static final int UNIT = Extent.MIN_LENGTH;
  private static final int BLOCK = 4 * UNIT;

  private final RegionSpace region = new RegionSpace(null, new Region(0, 2 * BLOCK, 0, 0), 2, 5);
  private final SpaceAudit audit = new SpaceAudit(BLOCK);

  private Allocation extent(int unit, int units, long generation) {
    return new Allocation(region, (long) unit * UNIT, 0, generation, units * UNIT);
  }

  @Test
  void takesSpaceThatIsAllSomebodys() {
    audit.owned(extent(0, 4, 5), "a");
    audit.owned(extent(6, 2, 1), "b");
    audit.free(region, 4 * UNIT, 2 * UNIT);
    audit.requireWhole(region);
  }

  @Test
  void findsSpaceWithTwoOwners() {
    audit.owned(extent(2, 2, 5), "a");
    AssertionError error =
        assertThrows(AssertionError.class, () -> audit.owned(extent(0, 4, 4), "b"));
    assertTrue(error.getMessage().startsWith("b has unit 2"), error.getMessage());
    assertThrows(AssertionError.class, () -> audit.free(region, 3 * UNIT, BLOCK));
  }

  @Test
  void findsSpaceOfNobody() {
    audit.owned(extent(0, 7, 5), "a");
    AssertionError error = assertThrows(AssertionError.class, () -> audit.requireWhole(region));
    assertTrue(error.getMessage().startsWith("1 units of region 0"), error.getMessage());
  }

  @Test
  void findsAGenerationThatNobodyGave() {
    assertThrows(AssertionError.class, () -> audit.owned(extent(0, 1, 6), "a"));
    assertThrows(AssertionError.class, () -> audit.owned(extent(0, 1, 0), "a"));
  }
}
