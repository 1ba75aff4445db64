/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class YcsbTest {
  private static final String OUTPUT =
      """
      [OVERALL], RunTime(ms), 500
      [OVERALL], Throughput(ops/sec), 2000.5
      [READ], Operations, 1000
      [READ], 50thPercentileLatency(us), 20
      [READ], Return=OK, 1000
      [CLEANUP], Operations, 1
      [UPDATE], Operations, 500
      [UPDATE], Return=OK, 500
      [READ-MODIFY-WRITE], Operations, 500
      """;

  @TempDir Path directory;

  private String prefix() {
    return directory + "/";
  }

  /** Two intervals of latencies, as YCSB writes them. */
  private void write(String operation, long... micros) throws IOException {
    try (PrintStream file = new PrintStream(prefix() + operation + ".hdr")) {
      HistogramLogWriter writer = new HistogramLogWriter(file);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      for (int half = 0; half < 2; half++) {
        Histogram interval = new Histogram(3);
        for (int i = half; i < micros.length; i += 2) {
          interval.recordValue(micros[i]);
        }
        writer.outputIntervalHistogram(interval);
      }
    }
  }

  private static Histogram histogram(long... micros) {
    Histogram histogram = new Histogram(3);
    for (long value : micros) {
      histogram.recordValue(value);
    }
    return histogram;
  }

  @Test
  void whatYcsbWritesIsRead() throws Exception {
    write("READ", 10, 20, 30);
    write("UPDATE", 40, 50);
    write("READ-MODIFY-WRITE", 60);
    YcsbResult result = YcsbResult.read(OUTPUT, prefix(), 1500);
    assertEquals(2000.5, result.rate());
    assertEquals(Set.of("READ", "UPDATE", "READ-MODIFY-WRITE"), result.latencies().keySet());
    assertEquals(3, result.latencies().get("READ").getTotalCount());
    assertEquals(20, result.latencies().get("READ").getValueAtPercentile(50));
    assertEquals(50, result.latencies().get("UPDATE").getMaxValue());
  }

  @Test
  void aRunWithErrorsHasNoFigures() throws Exception {
    write("READ", 10);
    write("UPDATE", 40);
    String failed = OUTPUT + "[UPDATE], Return=ERROR, 1\n";
    String message =
        assertThrows(IOException.class, () -> YcsbResult.read(failed, prefix(), 1)).getMessage();
    assertTrue(message.contains("[UPDATE], Return=ERROR, 1"), message);
    message =
        assertThrows(IOException.class, () -> YcsbResult.read(OUTPUT, prefix(), 1501)).getMessage();
    assertTrue(message.contains("1500 of 1501"), message);
  }

  @Test
  void eachOperationOfAWorkloadHasItsPlots() throws Exception {
    YcsbReport report = new YcsbReport(List.of("Crail", "Redis"));
    report.add("a", "Crail", new YcsbResult(3000, Map.of("READ", histogram(10, 20, 3000))));
    report.add("a", "Redis", new YcsbResult(4000, Map.of("UPDATE", histogram(20))));
    YcsbPlots.write(report, directory);
    String svg = Files.readString(directory.resolve("ycsb-a-read.svg"));
    assertTrue(svg.contains("YCSB A, READ"), svg);
    for (String plot : List.of("a-read.png", "a-update.svg", "a-update.png")) {
      assertTrue(Files.size(directory.resolve("ycsb-" + plot)) > 0, plot);
    }
  }

  @Test
  void theTableComparesWithTheLastStore() {
    YcsbReport report = new YcsbReport(List.of("Crail", "Redis"));
    report.add("a", "Crail", new YcsbResult(3000, Map.of("READ", histogram(10, 10, 10))));
    report.add("a", "Crail", new YcsbResult(1000, Map.of("READ", histogram(30, 30))));
    report.add("a", "Redis", new YcsbResult(4000, Map.of("READ", histogram(20))));
    assertEquals(
        """
        | workload | figure | Crail | Redis | Crail / Redis |
        |---|---|---|---|---|
        | A | operations /s | 2,000 | 4,000 | 0.50 |
        | A | READ us p50 | 10 | 20 | 0.50 |
        | A | READ us p99 | 30 | 20 | 1.50 |
        """,
        report.table());
  }
}
