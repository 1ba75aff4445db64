/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.OperationCounters;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/** The values of one scrape, by metric. Not thread-safe. */
final class Readings {
  /** Errors of alerts. */
  static final Set<ErrorCode> ALERTED = Set.of(ErrorCode.INTERNAL, ErrorCode.NO_SPACE);

  private static final double NANOS = 1e9;

  private final Map<Metric, List<DataPointSnapshot>> points = new EnumMap<>(Metric.class);

  /** Adds a value of a gauge or counter. */
  void add(Metric metric, double value, String... labels) {
    DataPointSnapshot point =
        metric.type() == Metric.Type.COUNTER
            ? CounterDataPointSnapshot.builder()
                .labels(metric.labels(List.of(labels)))
                .value(value)
                .build()
            : GaugeDataPointSnapshot.builder()
                .labels(metric.labels(List.of(labels)))
                .value(value)
                .build();
    add(metric, point);
  }

  /**
   * Adds counters by error, each with the error as its last label. An error that was never met is
   * left out.
   *
   * @param always these are there from the start on: a rate begins with the second value of a
   *     counter
   */
  void addErrors(
      Metric metric, Set<ErrorCode> always, ToLongFunction<ErrorCode> counts, String... labels) {
    for (ErrorCode code : ErrorCode.values()) {
      long count = counts.applyAsLong(code);
      if (count > 0 || always.contains(code)) {
        String[] all = Arrays.copyOf(labels, labels.length + 1);
        all[labels.length] = code.name().toLowerCase(Locale.ROOT);
        add(metric, count, all);
      }
    }
  }

  /** Adds the times of an operation. */
  void add(Metric metric, OperationCounters counters, String... labels) {
    double[] bounds = new double[OperationCounters.BUCKETS];
    long[] counts = new long[OperationCounters.BUCKETS];
    for (int i = 0; i < bounds.length; i++) {
      bounds[i] =
          i == bounds.length - 1
              ? Double.POSITIVE_INFINITY
              : OperationCounters.upperNanos(i) / NANOS;
      counts[i] = counters.count(i);
    }
    add(
        metric,
        HistogramDataPointSnapshot.builder()
            .labels(metric.labels(List.of(labels)))
            .classicHistogramBuckets(ClassicHistogramBuckets.of(bounds, counts))
            .sum(counters.nanos() / NANOS)
            .build());
  }

  private void add(Metric metric, DataPointSnapshot point) {
    points.computeIfAbsent(metric, key -> new ArrayList<>()).add(point);
  }

  /** All values. */
  MetricSnapshots snapshots() {
    List<MetricSnapshot> all = new ArrayList<>();
    points.forEach((metric, values) -> all.add(snapshot(metric, values)));
    return new MetricSnapshots(all);
  }

  private static MetricSnapshot snapshot(Metric metric, List<DataPointSnapshot> values) {
    return switch (metric.type()) {
      case GAUGE ->
          new GaugeSnapshot(metric.metadata(), cast(values, GaugeDataPointSnapshot.class));
      case COUNTER ->
          new CounterSnapshot(metric.metadata(), cast(values, CounterDataPointSnapshot.class));
      case HISTOGRAM ->
          new HistogramSnapshot(metric.metadata(), cast(values, HistogramDataPointSnapshot.class));
    };
  }

  private static <T> List<T> cast(List<DataPointSnapshot> values, Class<T> type) {
    return values.stream().map(type::cast).toList();
  }
}
