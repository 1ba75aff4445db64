/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Region;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpaceAuditTest {
  private static final int UNIT = Extent.MIN_LENGTH;
  private static final int BLOCK = 4 * UNIT;

  private final SpaceAudit audit = new SpaceAudit(BLOCK);
  private DatanodeSpace datanode;
  private SpaceAudit.Region region;

  @BeforeEach
  void start() throws Exception {
    datanode =
        new DatanodeSpace(
            1,
            0,
            TestStore.registration(1, "host", 1000, 0, true).description(),
            BLOCK,
            0,
            new HeapBudget(1 << 20, ""));
    datanode.wake(datanode.add(new Region(0, 2 * BLOCK, 0, 0), 5));
    region = audit.region(datanode, 0);
  }

  private void owned(int unit, int units, long generation, String owner) {
    FreePieces.Piece piece = new FreePieces.Piece(0, (long) unit * UNIT, units * UNIT, generation);
    new Allocation(datanode, piece, 0).audit(audit, owner);
  }

  @Test
  void acceptsSpaceWhosePartsHaveOwners() {
    owned(0, 4, 5, "a");
    owned(6, 2, 1, "b");
    region.free(4 * UNIT, 2 * UNIT);
    region.requireWhole(2);
  }

  @Test
  void findsSpaceWithTwoOwners() {
    owned(2, 2, 5, "a");
    AssertionError error = assertThrows(AssertionError.class, () -> owned(0, 4, 4, "b"));
    assertTrue(error.getMessage().startsWith("b has unit 2"), error.getMessage());
    assertThrows(AssertionError.class, () -> region.free(3 * UNIT, BLOCK));
  }

  @Test
  void findsSpaceWithoutAnOwner() {
    owned(0, 4, 5, "a");
    owned(4, 2, 5, "a");
    owned(6, 1, 5, "a");
    AssertionError error = assertThrows(AssertionError.class, () -> region.requireWhole(2));
    assertTrue(error.getMessage().startsWith("1 units of region 0"), error.getMessage());
  }

  @Test
  void findsAGenerationThatWasNotGivenOut() {
    assertThrows(AssertionError.class, () -> owned(0, 1, 6, "a"));
    assertThrows(AssertionError.class, () -> owned(0, 1, 0, "a"));
  }
}
