/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.BenchType;
import io.crail.bench.IoBench;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.OptionException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Wire;
import io.crail.bench.record.Workload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers of one process, and the sums of their figures. */
@Timeout(60)
class CrewTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  /** The run of a test's workload. */
  @FunctionalInterface
  private interface Body {
    void run(long operations, Recorder recorder) throws Exception;
  }

  private Workload workload(int worker, Body body) {
    return new Workload() {
      @Override
      public void prepare() {
        log.add("prepare " + worker);
      }

      @Override
      public void run(long operations, Recorder recorder) throws Exception {
        body.run(operations, recorder);
      }

      @Override
      public void close() {
        log.add("close " + worker);
      }
    };
  }

  private static BenchOptions<BenchType> options(String line) throws OptionException {
    return IoBench.SYNTAX.parse(line.split(" ")).orElseThrow();
  }

  private static void count(long operations, Recorder recorder) {
    recorder.begin();
    for (long i = 0; i < operations; i++) {
      recorder.operation(0, 1000 * i, 3);
    }
    recorder.end();
  }

  private static void countWithoutEnd(Recorder recorder) {
    recorder.begin();
    while (true) {
      recorder.operation(0, 1, 1);
    }
  }

  @Test
  void allBeginWhenAllAreReadyAndTheFirstIsClosedLast() throws Exception {
    AtomicInteger ready = new AtomicInteger();
    try (Crew crew =
        new Crew(
            options("-t getFile -k 10 --threads 3"),
            () -> {
              log.add("go");
              return ready.get();
            })) {
      for (int i = 0; i < 3; i++) {
        crew.add(
            workload(
                i,
                (operations, recorder) -> {
                  ready.incrementAndGet();
                  recorder.begin();
                  assertEquals(3, ready.get(), "one began before the others were ready");
                  count(operations, recorder);
                }),
            i);
      }
      Figures figures = crew.run();
      assertEquals(30, figures.operations());
      assertEquals(90, figures.bytes());
      assertEquals(30, figures.latencies().getTotalCount());
      assertEquals(30, crew.progress());
      assertTrue(figures.nanos() > 0);
    }
    assertEquals(
        List.of("prepare 0", "prepare 1", "prepare 2", "go", "close 2", "close 1", "close 0"), log);
  }

  @Test
  void aWorkerThatFailsEndsTheRunWithItsError() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    BenchException error = new BenchException("/x is gone");
    BenchException thrown;
    try (Crew crew = new Crew(options("-t getFile -k 10 --threads 3"), () -> null)) {
      for (int i = 0; i < 2; i++) {
        crew.add(
            workload(
                i,
                (operations, recorder) -> {
                  begun.countDown();
                  countWithoutEnd(recorder);
                }),
            i);
      }
      crew.add(
          workload(
              2,
              (operations, recorder) -> {
                recorder.begin();
                begun.await(30, TimeUnit.SECONDS);
                throw error;
              }),
          2);
      thrown = assertThrows(BenchException.class, crew::run);
    }
    assertEquals(error, thrown);
    assertTrue(log.contains("close 0"), "closed all the same");
  }

  @Test
  void aWorkerThatFailsBeforeItBeginsDelaysNoOther() throws Exception {
    try (Crew crew = new Crew(options("-t getFile -k 10 --threads 2"), () -> null)) {
      crew.add(workload(0, CrewTest::count), 0);
      crew.add(
          workload(
              1,
              (operations, recorder) -> {
                throw new OutOfMemoryError("of a test");
              }),
          1);
      assertEquals("of a test", assertThrows(OutOfMemoryError.class, crew::run).getMessage());
    }
  }

  @Test
  void anInterruptEndsAll() throws Exception {
    try (Crew crew = new Crew(options("-t getFile -k 10 --threads 2"), () -> null)) {
      Thread main = Thread.currentThread();
      crew.add(workload(0, (operations, recorder) -> countWithoutEnd(recorder)), 0);
      crew.add(
          workload(
              1,
              (operations, recorder) -> {
                recorder.begin();
                main.interrupt();
                Thread.sleep(TimeUnit.MINUTES.toMillis(10));
              }),
          1);
      assertThrows(InterruptedException.class, crew::run);
    }
    assertEquals(List.of("close 1", "close 0"), log.subList(2, 4));
  }

  @Test
  void reportsTheFailureOfTheSignalToBegin() throws Exception {
    try (Crew crew =
        new Crew(
            options("-t getFile -k 10 --threads 2"),
            () -> {
              throw new BenchException("no signal");
            })) {
      crew.add(workload(0, CrewTest::count), 0);
      crew.add(workload(1, CrewTest::count), 1);
      Exception thrown = assertThrows(Exception.class, crew::run);
      assertInstanceOf(BenchException.class, thrown);
      assertEquals("no signal", thrown.getMessage());
    }
  }

  @Test
  void workersTogetherGiveTheHistogramOfAllValues() throws Exception {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    Histogram all = new Histogram(3_600_000_000_000L, 3);
    List<Figures> parts = new ArrayList<>();
    for (int worker = 0; worker < 5; worker++) {
      Recorder recorder = new Recorder(() -> 0);
      recorder.begin();
      for (int i = 0; i < 2000; i++) {
        long nanos = random.nextLong(1L << random.nextInt(1, 40));
        recorder.operation(0, nanos, 2);
        all.recordValue(nanos);
      }
      recorder.end();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      Wire.writeFigures(new DataOutputStream(bytes), recorder.figures());
      parts.add(
          Wire.readFigures(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()))));
    }
    Figures together = Figures.together(parts, 123);
    assertEquals(all, together.latencies(), "seed " + seed);
    assertEquals(10_000, together.operations());
    assertEquals(20_000, together.bytes());
    assertEquals(123, together.nanos());
  }
}
