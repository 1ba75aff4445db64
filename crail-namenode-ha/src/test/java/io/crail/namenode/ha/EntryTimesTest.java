/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests what is known of the times of entries, against all of these times. */
class EntryTimesTest {
  private record Sample(long entry, long nanos) {}

  private final EntryTimes times = new EntryTimes();

  @Test
  void whoHasAllLacksNothing() {
    times.begin(100, 5);
    assertEquals(77, times.firstAfter(100, 77));
    times.note(100, 50);
    assertEquals(78, times.firstAfter(100, 78), "nothing new");
    times.note(101, 60);
    assertEquals(60, times.firstAfter(100, 79));
    assertEquals(80, times.firstAfter(101, 80));
  }

  @Test
  void whatWasBeforeTheBeginningIsNotKnown() {
    times.begin(100, 5);
    times.note(200, 10);
    assertEquals(5, times.firstAfter(7, 20));
    times.begin(300, 30);
    assertEquals(30, times.firstAfter(150, 40), "of the time before");
  }

  /** The longer ago, the less exact, by a part of the time that has passed since then. */
  @Test
  void agesAreNearlyRight() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<Sample> all = new ArrayList<>();
    long now = 1_000;
    long entry = 10;
    times.begin(entry, now);
    all.add(new Sample(entry, now));
    for (int i = 0; i < 200_000; i++) {
      now += 50;
      entry += 1 + random.nextInt(9);
      times.note(entry, now);
      all.add(new Sample(entry, now));
    }
    for (int i = 0; i < 10_000; i++) {
      int last = all.size() - 1;
      // As often some moments ago as hours.
      int from = last - 1 - (int) Math.pow(last, random.nextDouble());
      Sample had = all.get(Math.max(0, from));
      long exact = now - all.get(Math.max(0, from) + 1).nanos;
      long age = now - times.firstAfter(had.entry, now);
      assertTrue(age <= exact && exact - age <= 50 + exact / 4, had + ": " + age + " for " + exact);
    }
  }
}
