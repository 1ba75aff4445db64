/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.OptionException;
import io.crail.bench.report.Baseline;
import io.crail.bench.report.JsonReport;
import io.crail.bench.report.Measured;
import io.crail.bench.report.PlotFile;
import io.crail.bench.report.Report;
import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the command of a benchmark: its experiments, their report, and an exit code. The latency of
 * an operation counts from its issue to its completion; with a rate it counts from its planned
 * start. Warm-up operations are not in the figures.
 *
 * @param <T> the types of measurement
 * @param <S> the object to measure through
 */
public final class BenchRunner<T extends LoadType, S extends AutoCloseable> {
  /** Exit code: measured. */
  public static final int OK = 0;

  /** Exit code: the state of the cluster made a measurement impossible. */
  public static final int FAILED = 1;

  /** Exit code: the command line or the configuration is invalid. */
  public static final int USAGE = 2;

  private final Bench<T, S> bench;
  private final BenchContext context;

  private BenchRunner(Bench<T, S> bench, BenchContext context) {
    this.bench = bench;
    this.context = context;
  }

  /**
   * Runs a command.
   *
   * @param args the arguments after the command's name
   * @return the exit code: {@link #OK}, {@link #FAILED} or {@link #USAGE}
   */
  public static <T extends LoadType, S extends AutoCloseable> int run(
      Bench<T, S> bench, String[] args, BenchContext context) {
    String command = bench.syntax().command();
    Optional<BenchOptions<T>> options;
    try {
      options = bench.syntax().parse(args);
    } catch (OptionException e) {
      context.err().println(command + ": " + Printable.line(e.getMessage()));
      context.err().println("crail " + command + " --help explains options and types");
      return USAGE;
    }
    if (options.isEmpty()) {
      context.out().print(bench.syntax().help());
      return OK;
    }
    try {
      boolean printsJson = options.get().frame().printsJson();
      // Standard output is then read by a program.
      BenchContext used = printsJson ? context.withOut(context.err()) : context;
      new BenchRunner<>(bench, used).measure(options.get(), List.of(args), context.out());
      return OK;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      context.err().println(command + ": interrupted");
    } catch (ConfigException e) {
      context.err().println(command + ": " + Printable.line(e.getMessage()));
      return USAGE;
    } catch (BenchException | IOException e) {
      context.err().println(command + ": " + Printable.line(e.getMessage()));
    } catch (Exception e) {
      if (e instanceof RuntimeException failure && context.out().checkError()) {
        // The output takes nothing; the caller says so.
        throw failure;
      }
      // The store may throw anything by its signature. Printed in full, since this should not
      // happen.
      context.err().println(command + ": " + e);
      e.printStackTrace(context.err());
    }
    return FAILED;
  }

  private void measure(BenchOptions<T> given, List<String> arguments, PrintStream jsonOut)
      throws Exception {
    Instant time = Instant.now();
    List<Baseline> baselines = Baseline.read(given.frame().baselines());
    BenchOptions<T> options = bench.begin(given);
    PlotFile.check(options, baselines);
    context.out().println(bench.describe(options));
    List<Measured> all = new ArrayList<>();
    try (Load<T> load = load(options, arguments)) {
      for (int size : options.sizes()) {
        if (options.sizes().size() > 1) {
          context.out().println("size " + size);
        }
        all.add(new Measured(size, experiments(options.withSize(size), load)));
      }
    }
    LoadSettings frame = options.frame();
    if (frame.json() != null) {
      Map<String, String> keys = bench.client().configuration().shownTexts();
      keys.putAll(bench.client().more());
      new JsonReport(bench.syntax().command(), time, arguments, keys).write(options, all, jsonOut);
    }
    if (frame.plot() != null) {
      PlotFile.write(bench.syntax().command(), options, all, baselines);
    }
  }

  private Load<T> load(BenchOptions<T> options, List<String> arguments) throws IOException {
    int clients = options.frame().clients();
    if (clients == 1) {
      return new LocalLoad<>(bench, context, Cues.ALONE, 0);
    }
    List<String> same = new ArrayList<>(arguments);
    // Without it, each process would take another seed. The first value of an option counts.
    same.addAll(List.of("--seed", String.valueOf(options.seed())));
    return new ClientsLoad<>(bench.client(), clients, same, context);
  }

  private List<Figures> experiments(BenchOptions<T> options, Load<T> load) throws Exception {
    Report report = new Report(context.out());
    List<Figures> experiments = new ArrayList<>();
    for (int i = 0; i < options.rounds(); i++) {
      boolean counts = i >= options.dropped();
      if (options.rounds() > 1) {
        context
            .out()
            .println(
                counts ? "experiment " + (i - options.dropped()) : "not counted, experiment " + i);
      }
      Figures figures = load.experiment(options);
      if (figures.operations() > 0) {
        report.print(figures);
        report.printRate(figures, options.frame());
      }
      if (counts) {
        experiments.add(figures);
      }
    }
    if (experiments.size() > 1 && experiments.get(0).operations() > 0) {
      report.printSummary(experiments);
    }
    return experiments;
  }
}
