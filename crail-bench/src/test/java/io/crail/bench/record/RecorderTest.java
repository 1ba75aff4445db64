/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.bench.report.Report;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecorderTest {
  private long nanos = 5_000;

  private Figures experiment(long operations, long latencyNanos, long bytes) {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    for (long i = 0; i < operations; i++) {
      long issued = recorder.now();
      nanos += latencyNanos;
      recorder.operation(issued, recorder.now(), bytes);
      assertEquals(i + 1, recorder.progress());
    }
    recorder.end();
    return recorder.figures();
  }

  @Test
  void figuresAreThoseOfTheClock() {
    Figures figures = experiment(1000, 2_000, 4096);
    assertEquals(1000, figures.operations());
    assertEquals(4_096_000, figures.bytes());
    assertEquals(2_000_000, figures.nanos());
    assertEquals(0.002, figures.seconds(), 1e-12);
    assertEquals(500_000, figures.operationsPerSecond(), 1e-6);
    assertEquals(2.048e9, figures.bytesPerSecond(), 1e-3);
    assertEquals(2, figures.meanMicros(), 0.01);
    assertEquals(2, figures.percentileMicros(50), 0.01);
    assertEquals(2, figures.maxMicros(), 0.01);
  }

  @Test
  void percentilesAreOfTheOperations() {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    for (int i = 1; i <= 1000; i++) {
      recorder.operation(0, i * 1_000L, 0);
    }
    recorder.end();
    Figures figures = recorder.figures();
    assertEquals(500, figures.percentileMicros(50), 1);
    assertEquals(990, figures.percentileMicros(99), 1);
    assertEquals(999, figures.percentileMicros(99.9), 1);
    assertEquals(1000, figures.maxMicros(), 1);
    assertEquals(500.5, figures.meanMicros(), 1);
  }

  @Test
  void beginForgetsTheWarmUp() {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    recorder.operation(0, 1_000_000_000, 77);
    recorder.end();
    recorder.begin();
    nanos += 10_000;
    recorder.operation(nanos - 10_000, nanos, 1);
    recorder.end();
    Figures figures = recorder.figures();
    assertEquals(1, figures.operations());
    assertEquals(1, figures.bytes());
    assertEquals(10_000, figures.nanos());
    assertEquals(10, figures.maxMicros(), 0.01);
  }

  @Test
  void latenciesOutOfRangeAreKeptWithinIt() {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    recorder.operation(10, 5, 0);
    recorder.operation(0, Long.MAX_VALUE, 0);
    recorder.end();
    assertEquals(2, recorder.figures().operations());
    assertEquals(0, recorder.figures().percentileMicros(50));
  }

  @Test
  void experimentsAddUp() {
    Figures sum = Figures.sum(List.of(experiment(10, 1_000, 2), experiment(30, 3_000, 4)));
    assertEquals(40, sum.operations());
    assertEquals(140, sum.bytes());
    assertEquals(100_000, sum.nanos());
    assertEquals(2.5, sum.meanMicros(), 0.01);
    assertEquals(3, sum.maxMicros(), 0.01);
  }

  @Test
  void reportPrintsCrailsLinesWithUnits() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Report report = new Report(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    report.print(experiment(1000, 2_000, 4096));
    assertEquals(
        String.join(
            System.lineSeparator(),
            "execution time 0.002000 s",
            "ops 1000",
            "sumbytes 4096000",
            "throughput 500000.0 ops/s, 16384.00 Mbit/s, 2048.00 MB/s",
            "latency 2.00 us",
            "latency p50 2.00 us, p99 2.00 us, p99.9 2.00 us, max 2.00 us",
            ""),
        bytes.toString(StandardCharsets.UTF_8));
  }

  @Test
  void operationsWithoutBytesHaveNoBytesASecond() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Report(new PrintStream(bytes, true, StandardCharsets.UTF_8))
        .print(experiment(1000, 2_000, 0));
    assertEquals(
        "throughput 500000.0 ops/s",
        bytes.toString(StandardCharsets.UTF_8).lines().toList().get(3));
  }

  @Test
  void summaryHasMedianAndSpread() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Report report = new Report(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    report.printSummary(
        List.of(experiment(10, 1_000, 0), experiment(10, 2_000, 0), experiment(10, 10_000, 0)));
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertEquals(
        "throughput ops/s: median 500000.0, lowest 100000.0, highest 1000000.0",
        text.lines().toList().get(1));
  }

  @Test
  void nothingMeasuredIsNoDivisionByZero() {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    recorder.end();
    Figures figures = recorder.figures();
    assertEquals(0, figures.operationsPerSecond());
    assertEquals(0, figures.bytesPerSecond());
    assertEquals(0, figures.meanMicros());
  }
}
