/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.TestStore;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that each resting extent becomes free at its own time, no matter how long other extents
 * wait.
 */
class QuarantineTest {
  private static final int EXTENTS = 512;

  private final HeapBudget budget = new HeapBudget(Long.MAX_VALUE / 2, "");
  private final Quarantine quarantine = new Quarantine(budget);
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
    datanode.wake(datanode.add(new Region(0, 4L * TestStore.BLOCK, 0, 0), 0));
  }

  private void rest(long readyAtNanos, Quarantine.Writer writer) {
    FreePieces.Piece piece = datanode.take(Extent.MIN_LENGTH, false);
    Allocation extent = new Allocation(datanode, piece, 0);
    datanode.countAsWaiting(extent.allocatedLength());
    quarantine.add(extent, readyAtNanos, writer, writer != null, writer != null);
  }

  @Test
  void extentsThatAreReadyEarlierAreFreedEarlier() {
    rest(300, null);
    rest(100, null);
    rest(200, null);
    assertEquals(0, quarantine.reclaim(99, 10));
    assertEquals(1, quarantine.reclaim(100, 10));
    assertEquals(1, quarantine.reclaim(299, 10));
    assertEquals(1, quarantine.reclaim(300, 10));
    assertTrue(datanode.isEmpty());
  }

  /** What is let go leaves the middle of the heap, and what takes its place may be earlier. */
  @Test
  void randomRestsEndInTime() {
    Random random = new Random(TestStore.seed());
    record Model(long readyAtNanos, long node) {}
    List<Model> model = new ArrayList<>();
    long now = 0;
    long nextNode = 1;
    for (int step = 0; step < 20_000; step++) {
      int dice = random.nextInt(20);
      if (dice < 12 && model.size() < EXTENTS) {
        Model next = new Model(now + random.nextInt(1000), nextNode++);
        rest(next.readyAtNanos, new Quarantine.Writer(next.node, 7, 1));
        model.add(next);
      } else if (dice < 18 && !model.isEmpty()) {
        Model gone = model.remove(random.nextInt(model.size()));
        quarantine.letGo(gone.node, 7);
      } else {
        now += random.nextInt(50);
        long moment = now;
        long ready = model.stream().filter(each -> each.readyAtNanos <= moment).count();
        model.removeIf(each -> each.readyAtNanos <= moment);
        assertEquals(ready, quarantine.reclaim(now, Integer.MAX_VALUE));
      }
      assertEquals(model.size(), quarantine.writers());
    }
    quarantine.reclaim(now + 1000, Integer.MAX_VALUE);
    assertTrue(datanode.isEmpty());
    datanode.verify(0, new SpaceAudit(TestStore.BLOCK));
  }
}
