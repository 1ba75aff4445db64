/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws faults from a seed. */
public final class Plan {
  /** The shortest stop of a process. */
  private static final long SHORTEST_MILLIS = 100;

  /** The time before the first fault, so that there are data that a fault can harm. */
  private static final long FIRST_MILLIS = 1500;

  /** A pause after a group of faults, in which unknown outcomes are settled. */
  private static final long PAUSE_MILLIS = 3000;

  private static final long KILLED_MILLIS = 1000;

  /** One of this many groups has two faults at a time. */
  private static final int PAIRS = 3;

  private Plan() {}

  /** A kind of fault, and how often it is drawn. */
  public record Choice(Fault fault, Role role, int weight) {}

  /**
   * Draws a plan.
   *
   * @param millis how long the plan may take
   * @param choices the faults to draw from
   * @param counts the number of processes of each role
   * @param longestMillis the longest fault
   */
  public static List<Step> draw(
      Random random,
      long millis,
      List<Choice> choices,
      Map<Role, Integer> counts,
      long longestMillis) {
    List<Step> steps = new ArrayList<>();
    long at = FIRST_MILLIS;
    while (true) {
      Step first = step(random, at, choices, counts, longestMillis);
      long end = first.endMillis();
      Step second = null;
      if (random.nextInt(PAIRS) == 0) {
        second = step(random, at + random.nextLong(first.millis()), choices, counts, longestMillis);
        boolean same =
            second.role() == first.role()
                && (second.index() == first.index()
                    || first.fault() == Fault.KILL_ALL
                    || second.fault() == Fault.KILL_ALL);
        second = same ? null : second;
        end = second == null ? end : Math.max(end, second.endMillis());
      }
      if (end + PAUSE_MILLIS > millis) {
        steps.sort(Comparator.comparingLong(Step::atMillis));
        return steps;
      }
      steps.add(first);
      if (second != null) {
        steps.add(second);
      }
      at = end + PAUSE_MILLIS / 2 + random.nextLong(PAUSE_MILLIS);
    }
  }

  private static Step step(
      Random random, long at, List<Choice> choices, Map<Role, Integer> counts, long longestMillis) {
    int all = choices.stream().mapToInt(Choice::weight).sum();
    int drawn = random.nextInt(all);
    int index = 0;
    while (drawn >= choices.get(index).weight()) {
      drawn -= choices.get(index++).weight();
    }
    Choice choice = choices.get(index);
    // Half of the faults have lengths on a logarithmic scale, so that short ones are as many as
    // long ones. The others outlast leases and the time that space rests.
    double power = random.nextDouble() * Math.log((double) longestMillis / SHORTEST_MILLIS);
    long lasts = Math.round(SHORTEST_MILLIS * Math.exp(power));
    if (random.nextBoolean()) {
      lasts = longestMillis - random.nextLong(longestMillis / 4);
    }
    if (choice.fault() == Fault.KILL || choice.fault() == Fault.KILL_ALL) {
      lasts = Math.min(lasts, KILLED_MILLIS + lasts / 4);
    }
    return new Step(
        at, lasts, choice.fault(), choice.role(), random.nextInt(counts.get(choice.role())));
  }
}
