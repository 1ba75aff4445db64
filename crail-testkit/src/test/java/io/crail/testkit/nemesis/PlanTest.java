/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlanTest {
  private static final List<Plan.Choice> CHOICES =
      List.of(
          new Plan.Choice(Fault.KILL, Role.CLIENT, 1),
          new Plan.Choice(Fault.STOP, Role.NAMENODE, 3),
          new Plan.Choice(Fault.KILL_ALL, Role.NAMENODE, 1));
  private static final Map<Role, Integer> COUNTS = Map.of(Role.CLIENT, 3, Role.NAMENODE, 2);

  private static List<Step> draw(long seed) {
    return Plan.draw(new Random(seed), 120_000, CHOICES, COUNTS, 5000);
  }

  @Test
  void theSameSeedGivesTheSamePlan() {
    assertEquals(draw(5), draw(5));
    assertNotEquals(draw(5), draw(6));
  }

  @Test
  void aPlanKeepsItsLimits() {
    Set<String> victims = new HashSet<>();
    for (long seed = 0; seed < 50; seed++) {
      List<Step> plan = draw(seed);
      for (Step step : plan) {
        assertTrue(step.millis() >= 100 && step.millis() <= 5000, step::toString);
        assertTrue(step.atMillis() > 0 && step.endMillis() < 120_000, step::toString);
        victims.add(step.fault() + " " + step.role() + " " + step.index());
        for (Step other : plan) {
          boolean together =
              other.atMillis() < step.endMillis() && step.atMillis() < other.endMillis();
          boolean all = step.fault() == Fault.KILL_ALL || other.fault() == Fault.KILL_ALL;
          boolean same = other.role() == step.role() && (all || other.index() == step.index());
          assertTrue(other == step || !together || !same, () -> step + " with " + other);
        }
      }
    }
    assertEquals(7, victims.size(), victims.toString());
  }

  @Test
  void allThatHasBegunEndsAlthoughTheTestDoes() throws Exception {
    List<String> done = new ArrayList<>();
    Nemesis.Victims victims =
        new Nemesis.Victims() {
          @Override
          public void begin(Fault fault, Role role, int index) {
            done.add("begin " + role + index);
          }

          @Override
          public void end(Fault fault, Role role, int index) {
            done.add("end " + role + index);
          }

          @Override
          public void healed(long longestMillis) {
            done.add("healed " + longestMillis);
          }
        };
    List<Step> plan =
        List.of(
            new Step(0, 100_000, Fault.STOP, Role.CLIENT, 1),
            new Step(10, 20, Fault.STOP, Role.NAMENODE, 0),
            new Step(50_000, 20, Fault.STOP, Role.CLIENT, 2));
    new Nemesis(victims, line -> {}).run(plan, () -> done.size() < 3);
    assertEquals(
        List.of(
            "begin CLIENT1", "begin NAMENODE0", "end NAMENODE0", "end CLIENT1", "healed 100000"),
        done);
  }

  @Test
  void aFaultLastsAsLongAsPlannedAfterASlowOne() throws Exception {
    long[] nanos = new long[4];
    Nemesis.Victims victims =
        new Nemesis.Victims() {
          @Override
          public void begin(Fault fault, Role role, int index) throws Exception {
            nanos[index] = System.nanoTime();
            Thread.sleep(index == 0 ? 200 : 0);
          }

          @Override
          public void end(Fault fault, Role role, int index) {
            nanos[index + 2] = System.nanoTime();
          }

          @Override
          public void healed(long longestMillis) {}
        };
    List<Step> plan =
        List.of(
            new Step(0, 10, Fault.STOP, Role.CLIENT, 0),
            new Step(20, 100, Fault.STOP, Role.CLIENT, 1));
    new Nemesis(victims, line -> {}).run(plan, () -> true);
    assertTrue(nanos[3] - nanos[1] >= 99_000_000, nanos[3] - nanos[1] + " ns");
  }
}
