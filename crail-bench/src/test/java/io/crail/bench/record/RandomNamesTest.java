/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomNamesTest {
  @Test
  void pathsAreInTheDirectory() {
    assertEquals("/f00000000", new RandomNames("/", 10, 1).path(0));
    assertEquals("/a/b/f00000042", new RandomNames("/a/b", 100, 1).path(42));
    assertEquals("/a/b/f99999999", new RandomNames("/a/b/", 100_000_000, 1).path(99_999_999));
    assertEquals("/\u00fc/f00000007", new RandomNames("/\u00fc", 8, 1).path(7));
  }

  @Test
  void aPathStaysAsItWasGiven() {
    RandomNames names = new RandomNames("/d", 10, 1);
    String first = names.path(1);
    names.path(2);
    assertEquals("/d/f00000001", first);
  }

  @Test
  void theSameSeedGivesTheSameSequence() {
    RandomNames one = new RandomNames("/d", 1_000_000, 42);
    RandomNames two = new RandomNames("/d", 1_000_000, 42);
    RandomNames other = new RandomNames("/d", 1_000_000, 43);
    Set<String> seen = new HashSet<>();
    int same = 0;
    for (int i = 0; i < 1000; i++) {
      String path = one.next();
      assertEquals(path, two.next());
      seen.add(path);
      same += path.equals(other.next()) ? 1 : 0;
    }
    assertTrue(seen.size() > 990, () -> seen.size() + " different names of 1000");
    assertNotEquals(1000, same);
  }

  @Test
  void indexesAreUniform() {
    int buckets = 16;
    int draws = 160_000;
    RandomNames names = new RandomNames("/d", 1_000_003, 7);
    int[] counts = new int[buckets];
    for (int i = 0; i < draws; i++) {
      counts[(int) ((long) names.nextIndex() * buckets / names.count())]++;
    }
    double expected = (double) draws / buckets;
    double chiSquare = 0;
    for (int count : counts) {
      chiSquare += (count - expected) * (count - expected) / expected;
    }
    // With 15 degrees of freedom, one seed in a thousand gives more than 37.7.
    assertTrue(chiSquare < 37.7, "chi-square " + chiSquare);
  }

  @Test
  void everyIndexOfASmallSetAppears() {
    RandomNames names = new RandomNames("/d", 3, -1);
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      int index = names.nextIndex();
      assertTrue(index >= 0 && index < 3, "index " + index);
      seen.add(index);
    }
    assertEquals(Set.of(0, 1, 2), seen);
  }
}
