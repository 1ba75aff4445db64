/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.stream.MultiStreamIntRead.Remaining;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** For any order of the files, right ints are accepted and wrong ones are found. */
class MultiStreamIntReadTest {
  private static Remaining remaining(List<Integer> lengths) {
    Remaining remaining = new Remaining();
    lengths.forEach(length -> remaining.add(length));
    return remaining;
  }

  private static int[] stream(List<Integer> lengths) {
    int[] ints = new int[lengths.stream().mapToInt(Integer::intValue).sum()];
    int at = 0;
    for (int length : lengths) {
      for (int i = 0; i < length; i++) {
        ints[at++] = i;
      }
    }
    return ints;
  }

  /** The index of the first wrong int; the number of ints when all are right. */
  private static int firstWrong(List<Integer> lengths, int[] ints) {
    Remaining remaining = remaining(lengths);
    int index = 0;
    while (index < ints.length && remaining.expected(ints[index]) == ints[index]) {
      index++;
    }
    return index;
  }

  @Test
  void filesAreRightInAnyOrderAndOneOtherIntIsNoticed() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      List<Integer> lengths = new ArrayList<>();
      for (int i = random.nextInt(6); i >= 0; i--) {
        lengths.add(1 + random.nextInt(5));
      }
      Collections.shuffle(lengths, random);
      int[] ints = stream(lengths);
      String what = "seed " + seed + ", round " + round + ", lengths " + lengths;
      assertEquals(ints.length, firstWrong(lengths, ints), what);
      int index = random.nextInt(ints.length);
      ints[index] += 1 + random.nextInt(3);
      assertTrue(firstWrong(lengths, ints) < ints.length, what + ", index " + index);
    }
  }

  @Test
  void aFileThatGoesOnIsWrongWhereTheLongestEnds() {
    assertEquals(2, firstWrong(List.of(2, 2), new int[] {0, 1, 2, 3}));
    assertEquals(2, firstWrong(List.of(2, 1), new int[] {0, 1, 1}));
    assertEquals(1, firstWrong(List.of(3, 3), new int[] {0, 0, 1, 0, 1, 2}));
  }
}
