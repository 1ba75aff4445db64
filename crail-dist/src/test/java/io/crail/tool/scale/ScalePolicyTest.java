/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static io.crail.tool.scale.ScaleObservation.NEVER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.scale.ScaleDecision.Kind;
import io.crail.tool.scale.ScaleMember.Part;
import io.crail.tool.scale.ScaleMember.Standing;
import io.crail.tool.scale.ScaleObservation.Ending;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Tests what the controller decides on, observation by observation. */
class ScalePolicyTest {
  private static final long WINDOW = 300_000;

  private final List<ScaleMember> members = new ArrayList<>();
  private ScaleLimits limits = limits(0, 1, 100);
  private long now = 1_000_000;
  private boolean isWhole = true;
  private int starting;
  private Ending ending = Ending.NONE;
  private long added = NEVER;
  private long low = NEVER;

  private static ScaleLimits limits(long rate, int least, int most) {
    return new ScaleLimits(0.8, 0.5, 0.7, rate, least, most, WINDOW);
  }

  /** Adds a datanode of 100 bytes. */
  private ScaleMember member(Standing standing, long used, long rate) {
    return member(standing, List.of(new Part(100, used)), rate);
  }

  private ScaleMember member(Standing standing, List<Part> parts, long rate) {
    int number = members.size();
    ScaleMember member =
        new ScaleMember(new UUID(0, number), "host:" + number, standing, parts, rate);
    members.add(member);
    return member;
  }

  private void serving(int... used) {
    for (int each : used) {
      member(Standing.SERVES, each, 0);
    }
  }

  private ScaleDecision decide() {
    return new ScalePolicy(limits)
        .decide(new ScaleObservation(now, members, isWhole, starting, ending, added, low));
  }

  private void assertDecides(Kind kind, int count) {
    ScaleDecision decision = decide();
    assertEquals(kind, decision.kind(), decision::text);
    assertEquals(count, decision.count(), decision::text);
  }

  @Test
  void whatIsWithinTheLimitsStays() {
    serving(60, 70);
    assertDecides(Kind.HOLD, 0);
    assertEquals(NEVER, decide().lowMillis());
  }

  @Test
  void moreAreAddedInProportion() {
    serving(81, 81, 81, 81);
    // 324 bytes at 70 % each.
    assertDecides(Kind.ADD, 1);
    members.clear();
    serving(90, 90, 90, 90);
    assertDecides(Kind.ADD, 2);
    assertTrue(decide().text().startsWith("add 2: above 80 %; 90 % in use, 360 B of 400 B at 4"));
  }

  @Test
  void aFullStoreDoubles() {
    serving(100, 100, 100);
    assertDecides(Kind.ADD, 3);
    starting = 2;
    assertDecides(Kind.ADD, 1);
    starting = 3;
    assertDecides(Kind.HOLD, 0);
  }

  @Test
  void whatIsStartingCounts() {
    serving(90, 90, 90, 90);
    starting = 1;
    assertDecides(Kind.ADD, 1);
    starting = 2;
    assertDecides(Kind.HOLD, 0);
  }

  @Test
  void aStepAtMostDoubles() {
    limits = limits(10, 1, 100);
    member(Standing.SERVES, 10, 1000);
    member(Standing.SERVES, 10, 1000);
    assertDecides(Kind.ADD, 2);
  }

  @Test
  void theCopiesOfAnOwnDrainAreNoLoad() {
    limits = limits(10, 1, 100);
    member(Standing.SERVES, 10, 30);
    member(Standing.DRAINS, 10, 30);
    ending = Ending.DRAINS;
    assertDecides(Kind.HOLD, 0);
    ending = Ending.NONE;
    assertDecides(Kind.ADD, 1);
  }

  @Test
  void theRateAddsToo() {
    limits = limits(10, 1, 100);
    member(Standing.SERVES, 10, 8);
    member(Standing.SERVES, 10, 14);
    // 22 at 8.75 each.
    assertDecides(Kind.ADD, 1);
    members.clear();
    member(Standing.SERVES, 10, 9);
    member(Standing.SERVES, 10, 9);
    assertDecides(Kind.HOLD, 0);
    assertEquals(NEVER, decide().lowMillis(), "one alone would be too slow");
    members.clear();
    member(Standing.SERVES, 10, 2);
    member(Standing.SERVES, 10, 2);
    assertEquals(now, decide().lowMillis());
  }

  @Test
  void thereAreAlwaysTheLeastAndNeverMoreThanTheMost() {
    limits = limits(0, 3, 4);
    assertDecides(Kind.ADD, 3);
    starting = 3;
    assertDecides(Kind.HOLD, 0);
    starting = 0;
    serving(100, 100, 100);
    assertDecides(Kind.ADD, 1);
    // Its host is in use, too.
    member(Standing.DRAINS, 50, 0);
    assertDecides(Kind.HOLD, 0);
    assertTrue(decide().reason().endsWith("but there are --most already"));
    members.clear();
    serving(1, 1, 1);
    low = 0;
    assertDecides(Kind.HOLD, 0);
    // One that is silent is none.
    members.clear();
    serving(1, 1);
    member(Standing.SILENT, 1, 0);
    assertDecides(Kind.ADD, 1);
  }

  @Test
  void datanodesThatAreMissingMayBeOnTheirWay() {
    isWhole = false;
    assertDecides(Kind.HOLD, 0);
    serving(100);
    assertDecides(Kind.ADD, 1);
  }

  @Test
  void onlyThoseThatServeCount() {
    serving(70, 70);
    member(Standing.DRAINS, 100, 0);
    member(Standing.IMPAIRED, 100, 0);
    member(Standing.SILENT, 100, 0);
    assertDecides(Kind.HOLD, 0);
    members.clear();
    serving(90, 90);
    member(Standing.DRAINS, 0, 0);
    member(Standing.IMPAIRED, 0, 0);
    assertDecides(Kind.ADD, 1);
  }

  @Test
  void theFullestNamenodeDecides() {
    List<Part> parts = List.of(new Part(100, 95), new Part(100, 1));
    member(Standing.SERVES, parts, 0);
    member(Standing.SERVES, parts, 0);
    assertDecides(Kind.ADD, 1);
    members.clear();
    List<Part> half = List.of(new Part(100, 60), new Part(100, 1));
    member(Standing.SERVES, half, 0);
    member(Standing.SERVES, half, 0);
    low = 0;
    assertDecides(Kind.HOLD, 0);
  }

  @Test
  void theEmptiestLeavesWhenItHasBeenLowForTheWindow() {
    serving(40, 10, 20, 30);
    ScaleDecision first = decide();
    assertEquals(Kind.HOLD, first.kind());
    assertEquals(now, first.lowMillis());
    low = first.lowMillis();
    now += WINDOW - 1;
    assertDecides(Kind.HOLD, 0);
    assertEquals(low, decide().lowMillis());
    now += 1;
    ScaleDecision decision = decide();
    assertEquals(Kind.DRAIN, decision.kind());
    assertEquals("host:1", decision.member().orElseThrow().address());
    assertEquals("33 % without it, below 50 %, for 300 s", decision.reason());
  }

  @Test
  void oneMomentThatIsNotLowBeginsTheWindowAnew() {
    serving(60, 60);
    low = now - WINDOW;
    assertEquals(NEVER, decide().lowMillis());
  }

  @Test
  void nothingIsDrainedSoonAfterAnAdd() {
    serving(10, 10);
    low = 0;
    added = now - WINDOW + 1;
    assertDecides(Kind.HOLD, 0);
    added = now - WINDOW;
    assertDecides(Kind.DRAIN, 0);
  }

  @Test
  void oneStepAtATimeGoesDown() {
    serving(10, 10, 10);
    low = 0;
    ending = Ending.DRAINS;
    assertDecides(Kind.HOLD, 0);
    ending = Ending.LEAVES;
    assertDecides(Kind.HOLD, 0);
    ending = Ending.NONE;
    starting = 1;
    assertDecides(Kind.HOLD, 0);
    starting = 0;
    isWhole = false;
    assertDecides(Kind.HOLD, 0);
    isWhole = true;
    assertDecides(Kind.DRAIN, 0);
  }

  @Test
  void bytesThatAreStillToComeCount() {
    serving(20, 20, 20);
    low = 0;
    assertDecides(Kind.DRAIN, 0);
    // Somebody else drains it, and its bytes need room.
    member(Standing.DRAINS, 90, 0);
    assertDecides(Kind.HOLD, 0);
  }

  @Test
  void aPeakPutsTheDrainingDatanodeBackIntoUse() {
    serving(90, 90);
    member(Standing.DRAINS, 10, 0);
    ending = Ending.DRAINS;
    assertDecides(Kind.UNDO, 0);
    // It is empty already.
    ending = Ending.LEAVES;
    assertDecides(Kind.ADD, 1);
  }

  @Test
  void limitsThatDoNotFitAreRefused() {
    refused("--low 80 % must be below --high 80 %", 0.8, 0.8, 0.8, 1, 2);
    refused("--low 90 % must be below --high 80 %", 0.8, 0.9, 0.8, 1, 2);
    refused("--low must be above 0 %", 0.8, 0, 0.7, 1, 2);
    refused("--high must be below 100 %, which no use is above", 1.1, 0.5, 0.7, 1, 2);
    refused("--target 50 % must be above --low 50 % and at most --high 80 %", 0.8, 0.5, 0.5, 1, 2);
    refused("--target 90 % must be above --low 50 % and at most --high 80 %", 0.8, 0.5, 0.9, 1, 2);
    refused("--least must be at least 1", 0.8, 0.5, 0.7, 0, 2);
    refused("--least 3 must be at most --most 2", 0.8, 0.5, 0.7, 3, 2);
  }

  private static void refused(
      String why, double high, double low, double target, int least, int most) {
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> new ScaleLimits(high, low, target, 0, least, most, WINDOW));
    assertEquals(why, refusal.getMessage());
  }

  /** Whatever it sees, it keeps what it promises. */
  @Test
  void noObservationLeadsBeyondTheLimits() {
    long seed = Long.getLong("crail.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 20_000; round++) {
      members.clear();
      int least = 1 + random.nextInt(4);
      limits = limits(random.nextBoolean() ? 0 : 10, least, least + random.nextInt(6));
      for (int i = random.nextInt(10); i > 0; i--) {
        Standing standing = Standing.values()[random.nextInt(4)];
        member(standing, random.nextInt(101), random.nextInt(20));
      }
      isWhole = random.nextInt(4) > 0;
      starting = random.nextInt(3);
      ending = Ending.values()[random.nextInt(3)];
      added = random.nextBoolean() ? NEVER : now - random.nextInt(2 * (int) WINDOW);
      low = random.nextBoolean() ? NEVER : now - random.nextInt(2 * (int) WINDOW);
      ScaleDecision decision = decide();
      String what = "seed " + seed + ": " + decision.text() + " " + members + " " + limits;
      ScaleObservation seen =
          new ScaleObservation(now, members, isWhole, starting, ending, added, low);
      int serving = seen.serving().size();
      switch (decision.kind()) {
        case ADD -> {
          int all = seen.alive() + starting + decision.count();
          assertTrue(decision.count() > 0 && all <= limits.most(), what);
          int doubled = 2 * (serving + starting);
          assertTrue(serving + starting + decision.count() <= Math.max(doubled, least), what);
        }
        case DRAIN -> {
          assertTrue(serving > least && isWhole && starting == 0, what);
          assertTrue(ending == Ending.NONE && low != NEVER && now - low >= WINDOW, what);
          assertTrue(added == NEVER || now - added >= WINDOW, what);
        }
        case UNDO -> assertEquals(Ending.DRAINS, ending, what);
        case HOLD -> assertEquals(0, decision.count(), what);
      }
    }
  }
}
