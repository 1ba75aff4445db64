/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * How long a datanode takes to answer a small read of this host.
 *
 * @param uuid the identity of its process
 * @param micros the median of several reads; 0 if it does not answer
 * @param classMicros the median of its storage class; 0 if none answers
 * @param slow whether it takes far longer than its class
 * @param problem why it does not answer; empty if it does
 */
public record DatanodeLatency(
    UUID uuid, long micros, long classMicros, boolean slow, String problem) {
  private static final int FACTOR = 4;

  /** Less is what a busy host or a longer way may cost. */
  private static final long LEAST_EXCESS_MICROS = 1000;

  /**
   * Compares datanodes with those of their class.
   *
   * @param micros the times of those that answer
   * @param problems why others do not
   */
  static List<DatanodeLatency> compare(
      List<DatanodeReport> datanodes, Map<UUID, Long> micros, Map<UUID, String> problems) {
    Map<Integer, List<Long>> classes = new HashMap<>();
    for (DatanodeReport each : datanodes) {
      if (micros.containsKey(each.uuid())) {
        classes
            .computeIfAbsent(each.storageClass(), key -> new ArrayList<>())
            .add(micros.get(each.uuid()));
      }
    }
    List<DatanodeLatency> all = new ArrayList<>();
    for (DatanodeReport each : datanodes) {
      long own = micros.getOrDefault(each.uuid(), 0L);
      String problem = problems.getOrDefault(each.uuid(), "");
      if (own > 0 || !problem.isEmpty()) {
        long typical = median(classes.getOrDefault(each.storageClass(), List.of(0L)));
        boolean slow = own > FACTOR * typical && own - typical > LEAST_EXCESS_MICROS;
        all.add(new DatanodeLatency(each.uuid(), own, typical, slow, problem));
      }
    }
    return all;
  }

  /** The one in the middle; of two, the smaller one, since one of two may be slow. */
  static long median(List<Long> values) {
    return values.stream()
        .sorted(Comparator.naturalOrder())
        .skip((values.size() - 1) / 2)
        .findFirst()
        .orElseThrow();
  }

  /** The time for people, and how it compares if it is far from the others. */
  public String text() {
    if (!problem.isEmpty()) {
      return "not: " + problem;
    }
    return micros + " us" + (slow ? ", " + micros / classMicros + " x median" : "");
  }
}
