/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.BenchType;
import io.crail.bench.IoBench;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.BenchSyntax;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a load runs before the first figure, on a store that the test makes up. */
@Timeout(60)
class LocalLoadTest {
  private final List<String> events = new ArrayList<>();
  private final ByteArrayOutputStream text = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);

  /** What rests, whenever it is asked for. */
  private final List<Long> resting = new ArrayList<>();

  private int rehearsalsWithRoom = Integer.MAX_VALUE;

  private final class MadeUpLoad implements Workload {
    private final boolean rehearsal;

    MadeUpLoad(boolean rehearsal) {
      this.rehearsal = rehearsal;
    }

    @Override
    public void prepare() {}

    @Override
    public void run(long operations, Recorder recorder) throws Exception {
      recorder.begin(operations);
      if (rehearsal && rehearsalsWithRoom-- == 0) {
        throw ErrorCode.NO_SPACE.exception("class 0");
      }
      for (long i = 0; i < operations; i++) {
        long now = recorder.now();
        recorder.operation(now, now, 0);
      }
      recorder.end();
      if (!rehearsal) {
        events.add("measured");
      }
    }
  }

  private final class MadeUpBench implements Bench<BenchType, AutoCloseable> {
    @Override
    public BenchSyntax<BenchType> syntax() {
      return IoBench.SYNTAX;
    }

    @Override
    public BenchOptions<BenchType> begin(BenchOptions<BenchType> options) {
      return options;
    }

    @Override
    public String describe(BenchOptions<BenchType> options) {
      return "";
    }

    @Override
    public AutoCloseable open() {
      return () -> {};
    }

    @Override
    public Bench.Start client() {
      throw new AssertionError("one process only");
    }

    @Override
    public Workload workload(BenchOptions<BenchType> options, AutoCloseable opened) {
      return new MadeUpLoad(options.rehearsal());
    }

    @Override
    public long restingBytes(BenchOptions<BenchType> options, AutoCloseable opened) {
      long bytes = resting.size() > 1 ? resting.remove(0) : resting.get(0);
      events.add(bytes + " rest");
      return bytes;
    }
  }

  private void run() throws Exception {
    String line = "-t write -s 1k -k 100 -w 0 -f /x --warm-seconds 1";
    BenchContext context = new BenchContext(Configuration::defaults, false, out, out, false);
    try (LocalLoad<BenchType, AutoCloseable> load =
        new LocalLoad<>(new MadeUpBench(), context, Cues.ALONE, 0)) {
      load.experiment(IoBench.SYNTAX.parse(line.split(" ")).orElseThrow());
    }
  }

  @Test
  void nothingIsMeasuredBeforeTheSpaceOfTheWarmUpIsBack() throws Exception {
    resting.addAll(List.of(5L, 100L, 100L, 60L, 5L));
    run();
    assertEquals(
        List.of("5 rest", "100 rest", "100 rest", "60 rest", "5 rest", "measured"), events);
    assertTrue(text.toString(StandardCharsets.UTF_8).contains("its space rests"), text::toString);
  }

  @Test
  void aWarmUpThatFillsTheStoreEndsEarly() throws Exception {
    resting.add(0L);
    rehearsalsWithRoom = 3;
    run();
    assertEquals(List.of("0 rest", "0 rest", "measured"), events);
    assertTrue(text.toString(StandardCharsets.UTF_8).contains("ends early"), text::toString);
  }
}
