/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests what a balance moves. */
class BalancePlanTest {
  private static BalancePlan.Load load(int datanode, long capacity, long used) {
    return new BalancePlan.Load(datanode, capacity, used);
  }

  @Test
  void datanodesNearTheAverageStayAsTheyAre() {
    BalancePlan plan = BalancePlan.of(List.of(load(1, 1000, 450), load(2, 1000, 350)), 0.1, 0);
    assertEquals(0.4, plan.average(), 1e-9);
    assertEquals(List.of(), plan.flows());
    assertEquals(List.of(), BalancePlan.of(List.of(), 0.1, 0).flows());
    assertEquals(List.of(), BalancePlan.of(List.of(load(1, 0, 0), load(2, 0, 0)), 0.1, 0).flows());
    assertEquals(List.of(), BalancePlan.of(List.of(load(1, 1000, 900)), 0.1, 0).flows());
  }

  @Test
  void asLittleAsNeededMoves() {
    // The average is 40 %: what is above 50 % goes, and what is below 30 % is filled.
    BalancePlan plan = BalancePlan.of(List.of(load(1, 1000, 800), load(2, 1000, 0)), 0.1, 0);
    assertEquals(List.of(new BalancePlan.Flow(1, 2, 300)), plan.flows());
  }

  @Test
  void aNewDatanodeIsFilledByThoseThatAreNotTooFull() {
    BalancePlan plan =
        BalancePlan.of(List.of(load(1, 1000, 600), load(2, 1000, 600), load(3, 1000, 0)), 0.25, 0);
    assertEquals(150, plan.bytes());
    assertTrue(plan.flows().stream().allMatch(flow -> flow.to() == 3), plan::toString);
  }

  @Test
  void everyDatanodeComesNearTheAverage() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 1000; round++) {
      List<BalancePlan.Load> loads = new ArrayList<>();
      Map<Integer, Long> used = new HashMap<>();
      for (int i = random.nextInt(6); i >= 0; i--) {
        long capacity = 1 + random.nextInt(1_000_000);
        long some = (long) (capacity * random.nextDouble());
        loads.add(load(i, capacity, some));
        used.put(i, some);
      }
      double threshold = random.nextDouble() / 3;
      BalancePlan plan = BalancePlan.of(loads, threshold, 0);
      for (BalancePlan.Flow flow : plan.flows()) {
        used.merge(flow.from(), -flow.bytes(), Long::sum);
        used.merge(flow.to(), flow.bytes(), Long::sum);
      }
      for (BalancePlan.Load each : loads) {
        double off = Math.abs(used.get(each.datanode()) - plan.average() * each.capacity());
        assertTrue(
            off <= threshold * each.capacity() + 2 * loads.size(),
            () -> "seed " + seed + ": " + loads + ", " + threshold + ": " + plan);
      }
    }
  }
}
