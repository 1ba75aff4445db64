/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.chart.TimeLine;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * What namenodes served while a job ran.
 *
 * @param operations of the whole job
 * @param most operations a second, between two samples
 * @param lines operations a second from the job's begin: of all, and of the most frequent kinds
 */
record NamenodeLoad(long operations, double most, List<TimeLine> lines) {
  private static final String ALL = "all";
  private static final int MOST_KINDS = 4;
  private static final double MILLIS_PER_SECOND = 1e3;

  /**
   * What was served until a moment.
   *
   * @param millis since the epoch
   * @param counts of operations by their names
   */
  record Sample(long millis, Map<String, Long> counts) {
    long count(String name) {
      return name.equals(ALL)
          ? counts.values().stream().mapToLong(Long::longValue).sum()
          : counts.getOrDefault(name, 0L);
    }
  }

  /**
   * Finds the part that belongs to a job.
   *
   * @param samples in the order of time, before, while and after the job ran
   */
  static NamenodeLoad of(List<Sample> samples, long beginMillis, long endMillis) {
    int from = 0;
    int to = samples.size() - 1;
    while (from < to && samples.get(from + 1).millis <= beginMillis) {
      from++;
    }
    while (to > from && samples.get(to - 1).millis >= endMillis) {
      to--;
    }
    if (from >= to) {
      return new NamenodeLoad(0, 0, List.of());
    }
    Sample first = samples.get(from);
    Sample last = samples.get(to);
    List<String> names = new ArrayList<>(List.of(ALL));
    last.counts.keySet().stream()
        .filter(name -> last.count(name) > first.count(name))
        .sorted(Comparator.comparingLong((String name) -> first.count(name) - last.count(name)))
        .limit(MOST_KINDS)
        .forEach(names::add);
    List<Sample> part = samples.subList(from, to + 1);
    List<TimeLine> lines = names.stream().map(name -> line(name, part, beginMillis)).toList();
    double most = 0;
    for (double rate : lines.get(0).figures()) {
      most = Math.max(most, rate);
    }
    return new NamenodeLoad(last.count(ALL) - first.count(ALL), most, lines);
  }

  /**
   * A line of steps, each as long as two samples are apart, from the job's begin and zero to zero.
   */
  private static TimeLine line(String name, List<Sample> samples, long beginMillis) {
    double[] seconds = new double[2 * samples.size()];
    double[] rates = new double[seconds.length];
    for (int i = 0; i < samples.size(); i++) {
      Sample sample = samples.get(i);
      seconds[2 * i] = Math.max(0, sample.millis - beginMillis) / MILLIS_PER_SECOND;
      seconds[2 * i + 1] = seconds[2 * i];
      if (i > 0) {
        Sample before = samples.get(i - 1);
        double rate =
            (sample.count(name) - before.count(name))
                * MILLIS_PER_SECOND
                / Math.max(1, sample.millis - before.millis);
        rates[2 * i - 1] = rate;
        rates[2 * i] = rate;
      }
    }
    return new TimeLine(name, seconds, rates);
  }

  /** The line of all operations, with another name; empty when there are too few samples. */
  List<TimeLine> allAs(String name) {
    return lines.stream()
        .limit(1)
        .map(line -> new TimeLine(name, line.seconds(), line.figures()))
        .toList();
  }
}
