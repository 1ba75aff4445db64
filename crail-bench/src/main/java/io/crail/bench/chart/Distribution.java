/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.util.Arrays;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * The distribution of the latencies of one kind of operation: one line of {@link Chart#latencies}.
 *
 * @param name the name in the legend
 * @param micros latencies in microseconds, ascending
 * @param fractions for each latency, the fraction of all operations, 0 to 1, that took no longer
 * @param marks the latency at each percentile of {@link TailAxis#MARKS}
 * @param operations how many operations there were
 */
public record Distribution(
    String name, double[] micros, double[] fractions, double[] marks, long operations) {
  private static final double NANOS_PER_MICRO = 1e3;

  /** Points for each halving of the remaining fraction: enough for a smooth line. */
  private static final int TICKS_PER_HALVING = 20;

  /** Checks that both arrays have the same length. */
  public Distribution {
    if (micros.length != fractions.length) {
      throw new IllegalArgumentException(
          name + ": " + micros.length + " latencies, " + fractions.length + " fractions");
    }
    micros = micros.clone();
    fractions = fractions.clone();
    marks = marks.clone();
  }

  /** The distribution of a histogram of nanoseconds. An empty histogram has no points. */
  public static Distribution of(String name, Histogram nanos) {
    double[] micros = new double[16];
    double[] fractions = new double[16];
    int points = 0;
    if (nanos.getTotalCount() > 0) {
      for (HistogramIterationValue value : nanos.percentiles(TICKS_PER_HALVING)) {
        if (points == micros.length) {
          micros = Arrays.copyOf(micros, 2 * points);
          fractions = Arrays.copyOf(fractions, 2 * points);
        }
        micros[points] = value.getValueIteratedTo() / NANOS_PER_MICRO;
        fractions[points] = (double) value.getTotalCountToThisValue() / nanos.getTotalCount();
        points++;
      }
    }
    double[] marks =
        TailAxis.MARKS.stream()
            .mapToDouble(mark -> nanos.getValueAtPercentile(100 * TailAxis.fraction(mark)))
            .map(value -> value / NANOS_PER_MICRO)
            .toArray();
    return new Distribution(
        name,
        Arrays.copyOf(micros, points),
        Arrays.copyOf(fractions, points),
        marks,
        nanos.getTotalCount());
  }
}
