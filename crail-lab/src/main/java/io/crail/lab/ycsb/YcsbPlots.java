/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

import io.crail.bench.chart.Chart;
import io.crail.bench.chart.Distribution;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** Draws the distributions of the latencies of YCSB's operations. Stateless. */
final class YcsbPlots {
  private static final long NANOS_PER_MICRO = 1000;

  private YcsbPlots() {}

  /** Draws each operation of each workload as SVG and as PNG, with one line for each store. */
  static void write(YcsbReport report, Path directory) throws IOException {
    for (String workload : report.workloads()) {
      for (String operation : report.operations(workload)) {
        List<Distribution> lines = new ArrayList<>();
        for (String store : report.stores()) {
          Histogram micros = report.latencies(workload, store, operation);
          lines.add(Distribution.of(store, nanos(micros)));
        }
        Chart chart =
            Chart.latencies("YCSB " + YcsbReport.shown(workload) + ", " + operation, lines);
        String name = "ycsb-" + workload + "-" + operation.toLowerCase(Locale.ROOT);
        chart.write(directory.resolve(name + ".svg"));
        chart.write(directory.resolve(name + ".png"));
      }
    }
  }

  private static Histogram nanos(Histogram micros) {
    Histogram nanos = new Histogram(3);
    for (HistogramIterationValue value : micros.recordedValues()) {
      nanos.recordValueWithCount(
          value.getValueIteratedTo() * NANOS_PER_MICRO, value.getCountAtValueIteratedTo());
    }
    return nanos;
  }
}
