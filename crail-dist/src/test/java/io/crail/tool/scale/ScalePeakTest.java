/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.scale.ScaleController.Patience;
import org.junit.jupiter.api.Test;

/**
 * A peak of five times in virtual time, beside an oracle: it knows the load before, starts and ends
 * datanodes in no time, and has at each moment as few as keep the use at {@code --high}.
 */
class ScalePeakTest {
  private static final long GIB = VirtualWorld.GIB;
  private static final double HIGH = 0.8;
  private static final double BASE = 6.0 * GIB;
  private static final long PERIOD = 3_000;
  private static final long STEP = 1_000;

  /** New space is there after so long: a start takes 8 s. */
  private static final long SOON = 10_000;

  /** The ratios of ADR 55 have two digits. */
  private static final double ROUNDED = 0.005;

  /** What a run has cost, in datanodes times seconds, and how it went. */
  private record Outcome(
      double paid,
      double oracle,
      long orderedMillis,
      long thereMillis,
      long waitedMillis,
      int most) {
    double ratio() {
      return paid / oracle;
    }
  }

  /** The load: the base, the rise, the peak, the fall, the base. */
  private static double load(long second, int calm, int rise, int peak) {
    long in = second - calm;
    if (in < 0) {
      return BASE;
    } else if (in < rise) {
      return BASE * (1 + 4.0 * in / rise);
    } else if (in < rise + peak) {
      return BASE * 5;
    }
    return BASE * (1 + Math.max(0, 4.0 * (2L * rise + peak - in) / rise));
  }

  private static Outcome run(int calm, int rise, int peak) throws Exception {
    VirtualWorld world = new VirtualWorld();
    for (int i = 0; i < 8; i++) {
      world.serving();
    }
    ScaleController controller =
        new ScaleController(
            world,
            world,
            new ScaleLimits(HIGH, 0.5, ScaleLimits.usualTarget(HIGH, 0.5), 0, 2, 100, 300_000),
            new Patience(120_000, 300_000, 30_000),
            "scale-",
            ScaleRecord.FIRST,
            world.events);
    double paid = 0;
    double oracle = 0;
    long threshold = -1;
    long ordered = -1;
    long there = -1;
    int before = 0;
    long waited = 0;
    int most = 0;
    int end = 2 * calm + 2 * rise + peak;
    for (long second = 0; second < end; second++) {
      world.load = load(second, calm, rise, peak);
      if (threshold < 0 && world.load > HIGH * GIB * world.servingCount()) {
        threshold = world.now;
        before = world.servingCount();
      }
      if (world.now % PERIOD == 0) {
        controller.step();
      }
      if (ordered < 0 && threshold >= 0 && !world.actions.isEmpty()) {
        ordered = world.now;
      }
      if (there < 0 && threshold >= 0 && world.servingCount() > before) {
        there = world.now;
      }
      if (world.waiting() > 0) {
        waited += STEP;
      }
      most = Math.max(most, world.nodes.size());
      // Paid for from its order to its end.
      paid += world.nodes.size();
      oracle += Math.ceil(world.load / (HIGH * GIB));
      world.pass(STEP);
    }
    assertTrue(threshold >= 0, "the load was never above the threshold");
    assertTrue(ordered >= 0 && there >= 0, "no datanode was added");
    return new Outcome(paid, oracle, ordered - threshold, there - threshold, waited, most);
  }

  @Test
  void aPeakOfFiveTimesCostsLittleMoreThanAnOracleWouldNeed() throws Exception {
    Outcome outcome = run(1200, 60, 3600);
    System.out.println("peak of an hour: " + outcome + ", ratio " + outcome.ratio());
    assertEquals(1.15, outcome.ratio(), ROUNDED, outcome::toString);
    assertTrue(outcome.orderedMillis() <= PERIOD, outcome::toString);
    assertTrue(outcome.thereMillis() <= SOON, outcome::toString);
    assertTrue(outcome.most() >= 38 && outcome.most() <= 42, outcome::toString);
  }

  /** Then the down-window and the drains, one after the other, weigh more. */
  @Test
  void aShortPeakCostsMore() throws Exception {
    Outcome outcome = run(1200, 60, 600);
    System.out.println("peak of ten minutes: " + outcome + ", ratio " + outcome.ratio());
    assertEquals(1.38, outcome.ratio(), ROUNDED, outcome::toString);
    assertTrue(outcome.orderedMillis() <= PERIOD, outcome::toString);
    assertTrue(outcome.thereMillis() <= SOON, outcome::toString);
  }

  @Test
  void aSuddenPeakIsAbsorbedInAFewSteps() throws Exception {
    Outcome outcome = run(1200, 1, 3600);
    System.out.println("sudden peak: " + outcome + ", ratio " + outcome.ratio());
    assertTrue(outcome.orderedMillis() <= PERIOD, outcome::toString);
    assertTrue(outcome.thereMillis() <= SOON, outcome::toString);
    // Three times twice as many, each a start of 8 s and a period.
    assertTrue(outcome.waitedMillis() <= 40_000, outcome::toString);
    assertEquals(1.20, outcome.ratio(), ROUNDED, outcome::toString);
  }
}
