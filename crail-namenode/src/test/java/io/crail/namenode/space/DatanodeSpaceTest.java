/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that all space of a datanode can be allocated, also after it was given back, and that the
 * first regions come first.
 */
class DatanodeSpaceTest {
  private static final int BLOCKS = 4;

  private final HeapBudget budget = new HeapBudget(Long.MAX_VALUE / 2, "");
  private DatanodeSpace datanode;

  @BeforeEach
  void start() throws Exception {
    datanode =
        new DatanodeSpace(
            1,
            0,
            TestStore.registration(1, "host", 1000, 0, true).description(),
            TestStore.BLOCK,
            0,
            budget);
  }

  private RegionSpace region(int index) throws Exception {
    return datanode.add(new Region(index, (long) BLOCKS * TestStore.BLOCK, 0, 0), 0);
  }

  /** Takes all blocks that are left; gives the index of each one's region. */
  private List<Integer> takeAll(List<Allocation> taken) {
    List<Integer> regions = new ArrayList<>();
    for (FreePieces.Piece piece = datanode.take(TestStore.BLOCK, false);
        piece != null;
        piece = datanode.take(TestStore.BLOCK, false)) {
      taken.add(new Allocation(datanode, piece, 0));
      regions.add(piece.region());
    }
    return regions;
  }

  private void verify(List<Allocation> taken) {
    SpaceAudit audit = new SpaceAudit(TestStore.BLOCK);
    taken.forEach(extent -> extent.audit(audit, "the test"));
    datanode.verify(0, audit);
  }

  @Test
  void aRegionThatHasRestedIsFilledThoughThoseBehindItAreFull() throws Exception {
    RegionSpace first = region(0);
    datanode.wake(region(1));
    List<Allocation> taken = new ArrayList<>();
    assertEquals(List.of(1, 1, 1, 1), takeAll(taken));
    datanode.wake(region(2));
    assertEquals(List.of(2, 2, 2, 2), takeAll(taken));
    datanode.wake(first);
    assertEquals(List.of(0, 0, 0, 0), takeAll(taken));
    verify(taken);
  }

  @Test
  void allSpaceCanBeTakenAtItsPlaceInAnyOrder() throws Exception {
    Random random = new Random(TestStore.seed());
    for (int i = 0; i < 3; i++) {
      datanode.wake(region(i));
    }
    List<Allocation> taken = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      FreePieces.Piece piece = datanode.take(Extent.MIN_LENGTH << random.nextInt(9), true);
      if (piece != null && random.nextInt(4) > 0) {
        taken.add(new Allocation(datanode, piece, 0));
      }
    }
    start();
    for (int i = 0; i < 3; i++) {
      datanode.wake(region(i));
    }
    Collections.shuffle(taken, random);
    for (Allocation extent : taken) {
      assertTrue(datanode.claim(extent.place(), extent.allocatedLength()));
      assertFalse(datanode.claim(extent.place(), extent.allocatedLength()), "twice");
    }
    List<Allocation> again =
        taken.stream()
            .map(extent -> new Allocation(datanode, extent.extent(), extent.allocatedLength()))
            .collect(Collectors.toCollection(ArrayList::new));
    verify(again);
    takeAll(again);
    verify(again);
  }

  /** In quadratic time, this would take more than a minute. */
  @Test
  @Timeout(60)
  void blocksAreClaimedInLinearTime() throws Exception {
    int blocks = 1_000_000;
    datanode.wake(datanode.add(new Region(0, (long) blocks * TestStore.BLOCK, 0, 0), 0));
    for (int i = 0; i < blocks; i++) {
      long block = i == 0 ? blocks - 1 : i - 1;
      assertTrue(datanode.claim(new Place(1, 0, block * TestStore.BLOCK, 1), TestStore.BLOCK));
    }
    assertEquals(0, datanode.freeBlocks());
    for (int block = 0; block < 100; block++) {
      datanode.give(0, (long) block * TestStore.BLOCK, TestStore.BLOCK);
    }
    assertEquals(100, takeAll(new ArrayList<>()).size());
  }

  @Test
  void onlySpaceOfARegionIsTaken() throws Exception {
    datanode.wake(region(1));
    for (Place wrong :
        List.of(
            new Place(1, 0, 0, 1),
            new Place(1, 1, -Extent.MIN_LENGTH, 1),
            new Place(1, 1, 1, 1),
            new Place(1, 1, (long) BLOCKS * TestStore.BLOCK, 1))) {
      assertFalse(datanode.claim(wrong, Extent.MIN_LENGTH), wrong.toString());
    }
    Place right = new Place(1, 1, 0, 1);
    for (int length : new int[] {0, 1, -1, 3 * Extent.MIN_LENGTH, 2 * TestStore.BLOCK}) {
      assertFalse(datanode.claim(right, length), "" + length);
    }
    assertTrue(datanode.claim(right, TestStore.BLOCK));
  }

  @Test
  void spaceThatComesBackIsTakenBeforeWhatWasNeverUsed() throws Exception {
    for (int i = 0; i < 3; i++) {
      datanode.wake(region(i));
    }
    List<Allocation> taken = new ArrayList<>();
    takeAll(taken);
    assertEquals(3 * BLOCKS, taken.size());
    assertNull(datanode.take(Extent.MIN_LENGTH, true));
    taken.remove(2 * BLOCKS).free();
    Allocation awaited = taken.remove(1);
    datanode.countAsWaiting(awaited.allocatedLength());
    awaited.freeAwaited();
    assertEquals(List.of(0, 2), takeAll(taken));
    verify(taken);
  }
}
