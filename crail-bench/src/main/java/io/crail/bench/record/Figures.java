/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The figures of one experiment, or of several together.
 *
 * @param operations completed operations
 * @param givenUp operations that were not begun, or not awaited, since the rate could not be kept
 * @param bytes bytes that the operations moved
 * @param nanos from the first issue to the last completion
 * @param latencies nanoseconds from issue to completion of each operation
 */
public record Figures(long operations, long givenUp, long bytes, long nanos, Histogram latencies) {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;

  /** The figures of several experiments together. */
  public static Figures sum(List<Figures> parts) {
    Histogram all = new Histogram(parts.get(0).latencies);
    long operations = 0;
    long givenUp = 0;
    long bytes = 0;
    long nanos = 0;
    for (Figures part : parts) {
      all.add(part.latencies);
      operations += part.operations;
      givenUp += part.givenUp;
      bytes += part.bytes;
      nanos += part.nanos;
    }
    return new Figures(operations, givenUp, bytes, nanos, all);
  }

  /** The figures of several workers that ran at the same time and took {@code nanos} altogether. */
  public static Figures together(List<Figures> parts, long nanos) {
    Figures sum = sum(parts);
    return new Figures(sum.operations, sum.givenUp, sum.bytes, nanos, sum.latencies);
  }

  /** The duration in seconds. */
  public double seconds() {
    return nanos / NANOS_PER_SECOND;
  }

  /** Operations a second. */
  public double operationsPerSecond() {
    return nanos == 0 ? 0 : operations * NANOS_PER_SECOND / nanos;
  }

  /** Bytes a second. */
  public double bytesPerSecond() {
    return nanos == 0 ? 0 : bytes * NANOS_PER_SECOND / nanos;
  }

  /** Mean latency in microseconds. */
  public double meanMicros() {
    return operations == 0 ? 0 : latencies.getMean() / NANOS_PER_MICRO;
  }

  /**
   * The latency in microseconds that {@code percentile} percent of the operations do not exceed.
   */
  public double percentileMicros(double percentile) {
    return latencies.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }

  /** The longest latency in microseconds. */
  public double maxMicros() {
    return latencies.getMaxValue() / NANOS_PER_MICRO;
  }
}
