/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

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
      """;

  private static final long NOON_MILLIS = 1_750_000_000_000L;

  @TempDir Path directory;

  private String prefix() {
    return directory + "/";
  }

  /**
   * Intervals of a second with latencies, as YCSB writes them. An empty string is an interval
   * without an operation.
   */
  private void write(String operation, long firstSecond, String... intervals) throws IOException {
    try (PrintStream file = new PrintStream(prefix() + operation + ".hdr")) {
      HistogramLogWriter writer = new HistogramLogWriter(file);
      writer.outputLogFormatVersion();
      writer.outputStartTime(NOON_MILLIS);
      writer.setBaseTime(NOON_MILLIS);
      writer.outputLegend();
      for (int i = 0; i < intervals.length; i++) {
        Histogram interval = new Histogram(3);
        interval.setStartTimeStamp(NOON_MILLIS + (firstSecond + i) * 1000);
        interval.setEndTimeStamp(interval.getStartTimeStamp() + 1000);
        for (String micros : intervals[i].isEmpty() ? new String[0] : intervals[i].split(" ")) {
          interval.recordValue(Long.parseLong(micros));
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

  /** Of six seconds the first two and the last two are discarded; the run ended in the last two. */
  @Test
  void beginAndEndOfARunAreDiscarded() throws Exception {
    write("READ", 0, "9000", "8000", "10 20 30", "40", "7000", "");
    // The first update comes in the second interval.
    write("UPDATE", 1, "9000", "50 60", "", "7000", "");
    YcsbResult result = YcsbResult.read(OUTPUT, prefix(), 2);
    assertEquals(2, result.seconds());
    assertEquals((4 + 2) / 2.0, result.rate());
    assertEquals(Set.of("READ", "UPDATE"), result.latencies().keySet());
    assertEquals(4, result.latencies().get("READ").getTotalCount());
    assertEquals(20, result.latencies().get("READ").getValueAtPercentile(50));
    assertEquals(40, result.latencies().get("READ").getMaxValue());
    assertEquals(60, result.latencies().get("UPDATE").getMaxValue());
  }

  @Test
  void aReadAndItsUpdateAreOneOperation() throws Exception {
    write("READ", 0, "10", "10 10 10", "", "");
    write("UPDATE", 0, "10", "20", "", "");
    write("READ-MODIFY-WRITE", 0, "10", "30", "", "");
    String pairs = OUTPUT + "[READ-MODIFY-WRITE], Operations, 500\n";
    YcsbResult result = YcsbResult.read(pairs, prefix(), 1);
    assertEquals(3, result.rate());
    assertEquals(Set.of("READ", "UPDATE", "READ-MODIFY-WRITE"), result.latencies().keySet());
  }

  @Test
  void aRunThatIsAllDiscardedHasNoFigures() throws Exception {
    write("READ", 0, "10", "10", "10");
    write("UPDATE", 0, "10", "10", "10");
    String message =
        assertThrows(IOException.class, () -> YcsbResult.read(OUTPUT, prefix(), 2)).getMessage();
    assertTrue(message.contains("the first 2 s"), message);
  }

  @Test
  void aRunWithErrorsHasNoFigures() {
    String failed = OUTPUT + "[UPDATE], Return=ERROR, 1\n";
    String message =
        assertThrows(IOException.class, () -> YcsbResult.read(failed, prefix(), 1)).getMessage();
    assertTrue(message.contains("[UPDATE], Return=ERROR, 1"), message);
    message =
        assertThrows(IOException.class, () -> YcsbResult.requireOk(OUTPUT, 1501)).getMessage();
    assertTrue(message.contains("1500 of 1501"), message);
  }

  @Test
  void eachOperationOfAWorkloadHasItsPlots() throws Exception {
    YcsbReport report = new YcsbReport(List.of("Crail", "Redis"));
    report.add("a", "Crail", new YcsbResult(3, 3000, Map.of("READ", histogram(10, 20, 3000))));
    report.add("a", "Redis", new YcsbResult(3, 4000, Map.of("UPDATE", histogram(20))));
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
    report.add("a", "Crail", new YcsbResult(3, 3000, Map.of("READ", histogram(10, 10, 10))));
    report.add("a", "Crail", new YcsbResult(3, 1000, Map.of("READ", histogram(30, 30))));
    report.add("a", "Redis", new YcsbResult(3, 4000, Map.of("READ", histogram(20))));
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
