/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

import io.crail.lab.figures.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;

/**
 * The results of YCSB by workload and store. A rate is the median of the runs. Latencies are those
 * of all counted operations of all runs. Not thread-safe.
 */
final class YcsbReport {
  private static final double[] PERCENTILES = {50, 99};

  private final List<String> stores;
  private final Map<String, Map<String, List<YcsbResult>>> results = new LinkedHashMap<>();

  /**
   * Creates an empty report.
   *
   * @param stores the names of the stores; the last one is the reference for the others
   */
  YcsbReport(List<String> stores) {
    this.stores = List.copyOf(stores);
  }

  /** Adds a run. */
  void add(String workload, String store, YcsbResult result) {
    results
        .computeIfAbsent(workload, name -> new LinkedHashMap<>())
        .computeIfAbsent(store, name -> new ArrayList<>())
        .add(result);
  }

  /** The names of the stores. */
  List<String> stores() {
    return stores;
  }

  /** The workloads that were run. */
  Set<String> workloads() {
    return results.keySet();
  }

  /** The operations of a workload. */
  Set<String> operations(String workload) {
    Set<String> operations = new TreeSet<>();
    for (List<YcsbResult> runs : results.get(workload).values()) {
      runs.forEach(run -> operations.addAll(run.latencies().keySet()));
    }
    return operations;
  }

  /** Median of the rates. */
  double rate(String workload, String store) {
    return Samples.median(runs(workload, store).stream().map(YcsbResult::rate).toList());
  }

  /** The counted seconds of the shortest run. */
  double leastSeconds() {
    return results.values().stream()
        .flatMap(stores -> stores.values().stream())
        .flatMap(List::stream)
        .mapToDouble(YcsbResult::seconds)
        .min()
        .orElse(0);
  }

  /** Latencies of all runs, in microseconds. */
  Histogram latencies(String workload, String store, String operation) {
    Histogram sum = new Histogram(3);
    for (YcsbResult run : runs(workload, store)) {
      Histogram latencies = run.latencies().get(operation);
      if (latencies != null) {
        sum.add(latencies);
      }
    }
    return sum;
  }

  private List<YcsbResult> runs(String workload, String store) {
    return results.get(workload).getOrDefault(store, List.of());
  }

  /** A table in Markdown: a line for each figure, with the ratios to the last store. */
  String table() {
    StringBuilder text = new StringBuilder("| workload | figure |");
    stores.forEach(store -> text.append(' ').append(store).append(" |"));
    String peer = stores.get(stores.size() - 1);
    for (String store : stores.subList(0, stores.size() - 1)) {
      text.append(' ').append(store).append(" / ").append(peer).append(" |");
    }
    text.append("\n|---|---|").append("---|".repeat(2 * stores.size() - 1)).append('\n');
    for (String workload : workloads()) {
      List<Double> rates = new ArrayList<>();
      stores.forEach(store -> rates.add(rate(workload, store)));
      line(text, workload, "operations /s", rates);
      for (String operation : operations(workload)) {
        for (double percentile : PERCENTILES) {
          List<Double> micros = new ArrayList<>();
          for (String store : stores) {
            Histogram latencies = latencies(workload, store, operation);
            micros.add((double) latencies.getValueAtPercentile(percentile));
          }
          String figure = String.format(Locale.ROOT, "%s us p%.0f", operation, percentile);
          line(text, workload, figure, micros);
        }
      }
    }
    return text.toString();
  }

  /** The name of a workload for people. */
  static String shown(String workload) {
    return workload.length() == 1 ? workload.toUpperCase(Locale.ROOT) : workload;
  }

  private static void line(
      StringBuilder text, String workload, String figure, List<Double> values) {
    text.append("| ").append(shown(workload)).append(" | ").append(figure).append(" |");
    for (double value : values) {
      text.append(String.format(Locale.ROOT, " %,.0f |", value));
    }
    double peer = values.get(values.size() - 1);
    for (double value : values.subList(0, values.size() - 1)) {
      text.append(peer > 0 ? String.format(Locale.ROOT, " %.2f |", value / peer) : " - |");
    }
    text.append('\n');
  }
}
