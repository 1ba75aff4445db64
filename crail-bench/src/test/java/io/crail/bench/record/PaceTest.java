/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.IoBench;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.report.Report;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that start at a rate, with a clock that advances when a thread waits for it. */
class PaceTest {
  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000_000;

  /** A clock that only the test advances. */
  private static final class ManualTicker implements Ticker {
    private long nanos = 77 * MILLI;

    @Override
    public long getAsLong() {
      return nanos;
    }

    @Override
    public void await(long until) {
      nanos = Math.max(nanos, until);
    }
  }

  private final ManualTicker ticker = new ManualTicker();

  private Recorder recorder(double perSecond, long operations) {
    return new Recorder(ticker, () -> {}, new Pace(perSecond, 0, 1, operations));
  }

  /** One operation at a time, as workloads run them. One of them takes long. */
  private void run(Recorder recorder, int operations, int stalled, long stallNanos) {
    long issued = recorder.begin();
    for (int i = 0; i < operations; i++) {
      ticker.nanos += i == stalled ? stallNanos : 100 * MICRO;
      long completed = recorder.now();
      recorder.operation(issued, completed, 1);
      issued = completed;
    }
    recorder.end();
  }

  @Test
  void operationsThatQueueBehindAStalledOneAreLate() {
    Recorder recorder = recorder(1000, 100);
    run(recorder, 100, 10, 20 * MILLI);
    Figures figures = recorder.figures();
    assertEquals(100, figures.operations());
    assertEquals(100 * MILLI, figures.nanos(), "a rate that was kept is that of the figures");
    assertEquals(20_000, figures.maxMicros(), 20);
    // The next operation waited 19 ms and then took 0.1 ms; each operation after it took 0.9 ms
    // less.
    long late = figures.latencies().getCountBetweenValues(MILLI, Long.MAX_VALUE / 2);
    assertEquals(1 + 21, late);
    assertEquals(19_100, figures.latencies().getValueAtPercentile(99) / 1e3, 20);
  }

  @Test
  void aClosedLoopWouldHideThat() {
    Recorder recorder = new Recorder(ticker);
    run(recorder, 100, 10, 20 * MILLI);
    assertEquals(
        1,
        recorder.figures().latencies().getCountBetweenValues(MILLI, Long.MAX_VALUE / 2),
        "why there is an open one");
  }

  @Test
  void workersTakeTurns() {
    List<Long> starts = new ArrayList<>();
    for (int worker = 0; worker < 4; worker++) {
      Pace pace = new Pace(1000, worker, 4, 10);
      for (int i = 0; i < 10; i++) {
        starts.add(pace.startNanos(i));
      }
      assertEquals(40 * MILLI, pace.plannedNanos());
    }
    starts.sort(null);
    for (int i = 0; i < 40; i++) {
      assertEquals(i * MILLI, starts.get(i));
    }
  }

  @Test
  void aRateThatCannotBeKeptIsGivenUpInTime() {
    Recorder recorder = recorder(1000, 10_000);
    long begin = ticker.nanos;
    // Each operation takes 50 ms, so all take 500 s. The rate plans 10 s.
    assertThrows(
        RunStopped.class,
        () -> {
          recorder.begin();
          for (int i = 0; i < 10_000; i++) {
            ticker.nanos += 50 * MILLI;
            recorder.operation(0, recorder.now(), 1);
          }
        });
    assertTrue(recorder.isOverdue());
    assertEquals(25_000 * MILLI, ticker.nanos - begin, 50 * MILLI);
    Figures figures = recorder.figures();
    assertEquals(ticker.nanos - begin, figures.nanos());
    assertEquals(501, figures.operations());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Report(new PrintStream(bytes, true, StandardCharsets.UTF_8))
        .printRate(figures, frame("-t getFile -k 10000 --rate 1000"));
    assertEquals(
        String.join(
            System.lineSeparator(),
            "rate asked 1000 ops/s, achieved 20.0 ops/s: NOT KEPT, the latencies are those of"
                + " operations that queue",
            "gave up 9499 of 10000 operations, after 25.1 s instead of 10.0 s",
            ""),
        bytes.toString(StandardCharsets.UTF_8));
  }

  @Test
  void theLimitIsThatOfTheOperationsThatThereAre() {
    // The loop says 10. A type that runs several operations for each says their number.
    Recorder recorder = recorder(1000, 10);
    long begin = ticker.nanos;
    assertThrows(
        RunStopped.class,
        () -> {
          recorder.begin(10_000);
          for (int i = 0; i < 10_000; i++) {
            ticker.nanos += 50 * MILLI;
            recorder.operation(0, recorder.now(), 1);
          }
        });
    assertEquals(25_000 * MILLI, ticker.nanos - begin, 50 * MILLI);
    assertEquals(9499, recorder.figures().givenUp());
    // The next run, whose rate is kept, does not remember it.
    recorder.begin(100);
    for (int i = 0; i < 100; i++) {
      recorder.operation(0, recorder.now(), 1);
    }
    recorder.end();
    assertEquals(0, recorder.figures().givenUp());
    assertEquals(100 * MILLI, recorder.figures().nanos());
  }

  @Test
  void reportsAKeptRateInOneLine() {
    Recorder recorder = recorder(1000, 100);
    run(recorder, 100, -1, 0);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Report(new PrintStream(bytes, true, StandardCharsets.UTF_8))
        .printRate(recorder.figures(), frame("-t getFile -k 100 --rate 1000"));
    assertEquals(
        "rate asked 1000 ops/s, achieved 1000.0 ops/s" + System.lineSeparator(),
        bytes.toString(StandardCharsets.UTF_8));
  }

  private static LoadSettings frame(String line) {
    try {
      return IoBench.SYNTAX.parse(line.split(" ")).orElseThrow().frame();
    } catch (OptionException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * A server that takes the same time for each of several operations in flight, and stalls once.
   */
  private final class Server implements Pipeline.Operation<Integer> {
    private final long stallFrom = ticker.nanos + 10 * MILLI;
    private final long stallTo;
    private final ArrayDeque<Long> inFlight = new ArrayDeque<>();
    private int most;

    Server(long stallNanos) {
      stallTo = stallFrom + stallNanos;
    }

    @Override
    public Future<Integer> issue(int slot) {
      long free = ticker.nanos >= stallFrom ? Math.max(ticker.nanos, stallTo) : ticker.nanos;
      long end = free + 200 * MICRO;
      inFlight.add(end);
      most = Math.max(most, inFlight.size());
      return new CompletableFuture<>() {
        @Override
        public boolean isDone() {
          // Each poll advances the clock.
          ticker.nanos += MICRO;
          return ticker.nanos >= end;
        }

        @Override
        public Integer get() {
          ticker.await(end);
          return 1;
        }

        @Override
        public Integer get(long timeout, TimeUnit unit) throws TimeoutException {
          long until = ticker.nanos + unit.toNanos(timeout);
          ticker.await(Math.min(until, end));
          if (until < end) {
            throw new TimeoutException();
          }
          return 1;
        }
      };
    }

    @Override
    public long complete(Integer result, int slot) {
      inFlight.remove();
      return result;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 64})
  void aPipelineStartsWhatIsDueAndCountsWhatHadNoRoom(int depth) throws Exception {
    Recorder recorder = recorder(1000, 100);
    Server server = new Server(30 * MILLI);
    recorder.begin();
    new Pipeline<>(depth, server).run(100, recorder);
    recorder.end();
    Figures figures = recorder.figures();
    assertEquals(100, figures.operations());
    assertEquals(100 * MILLI, figures.nanos());
    assertEquals(Math.min(depth, 31), server.most, 1.0, "in flight while it stalled");
    // For any depth: the operations that were to start during the stall waited for its end.
    assertEquals(30_200, figures.maxMicros(), 100);
    long late = figures.latencies().getCountBetweenValues(MILLI, Long.MAX_VALUE / 2);
    // At depth 1 some more operations waited for those before them.
    assertEquals(depth == 1 ? 37 : 30, late, 1.0);
  }

  @Test
  void aPipelineDoesNotIssueBeforeTheTime() throws Exception {
    Recorder recorder = recorder(1000, 50);
    List<Long> issued = new ArrayList<>();
    long begin = recorder.begin();
    Server server = new Server(0);
    new Pipeline<>(
            16,
            new Pipeline.Operation<Integer>() {
              @Override
              public Future<Integer> issue(int slot) {
                issued.add(ticker.nanos - begin);
                return server.issue(slot);
              }

              @Override
              public long complete(Integer result, int slot) {
                return server.complete(result, slot);
              }
            })
        .run(50, recorder);
    for (int i = 0; i < 50; i++) {
      assertEquals(i * MILLI, issued.get(i), 3.0 * MICRO, "operation " + i);
    }
  }

  @Test
  void theMachinesClockIsWaitedFor() {
    long until = Ticker.SYSTEM.getAsLong() + 2 * MILLI;
    Ticker.SYSTEM.await(until);
    assertTrue(Ticker.SYSTEM.getAsLong() - until >= 0);
    Thread.currentThread().interrupt();
    Ticker.SYSTEM.await(Ticker.SYSTEM.getAsLong() + 3_600_000 * MILLI);
    assertTrue(Thread.interrupted(), "it stays interrupted");
    assertFalse(Thread.currentThread().isInterrupted());
  }
}
