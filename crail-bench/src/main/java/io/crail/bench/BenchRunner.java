/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Runs a benchmark's command: its experiments, their report, and an exit code. Each operation's
 * latency is taken from its issue to its completion; warm-up is not in the figures.
 *
 * @param <T> what it measures
 * @param <S> through what it measures
 */
public final class BenchRunner<T extends LoadType, S extends AutoCloseable> {
  /** Exit code: measured. */
  public static final int OK = 0;

  /** Exit code: the cluster, or what is on it, did not allow to measure. */
  public static final int FAILED = 1;

  /** Exit code: the command line or the configuration is none. */
  public static final int USAGE = 2;

  private final Bench<T, S> bench;
  private final BenchContext context;
  private final LongSupplier clock = System::nanoTime;

  private BenchRunner(Bench<T, S> bench, BenchContext context) {
    this.bench = bench;
    this.context = context;
  }

  /**
   * Runs a command.
   *
   * @param args the arguments behind its name
   * @return the exit code: {@link #OK}, {@link #FAILED} or {@link #USAGE}
   */
  public static <T extends LoadType, S extends AutoCloseable> int run(
      Bench<T, S> bench, String[] args, BenchContext context) {
    String command = bench.syntax().command();
    Optional<BenchOptions<T>> options;
    try {
      options = bench.syntax().parse(args);
    } catch (UsageException e) {
      context.err().println(command + ": " + Printable.line(e.getMessage()));
      context.err().println("crail " + command + " --help explains options and types");
      return USAGE;
    }
    if (options.isEmpty()) {
      context.out().print(bench.syntax().help());
      return OK;
    }
    try {
      new BenchRunner<>(bench, context).measure(options.get());
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
      // Whatever the store throws by its signature: told whole, since it should not happen.
      context.err().println(command + ": " + e);
      e.printStackTrace(context.err());
    }
    return FAILED;
  }

  private void measure(BenchOptions<T> given) throws Exception {
    BenchOptions<T> options = bench.begin(given);
    context.out().println(bench.describe(options));
    List<Figures> experiments = new ArrayList<>();
    S opened = null;
    try {
      for (int i = 0; i < options.experiments(); i++) {
        if (options.experiments() > 1) {
          context.out().println("experiment " + i);
        }
        if (opened == null) {
          opened = bench.open();
        }
        Figures figures = experiment(options, opened);
        if (figures.operations() > 0) {
          new Report(context.out()).print(figures);
          experiments.add(figures);
        }
        if (!options.keepOpen()) {
          S closing = opened;
          opened = null;
          closing.close();
        }
      }
    } finally {
      if (opened != null) {
        opened.close();
      }
    }
    if (experiments.size() > 1) {
      new Report(context.out()).printSummary(experiments);
    }
  }

  private Figures experiment(BenchOptions<T> options, S opened) throws Exception {
    Recorder recorder = new Recorder(clock);
    try (Workload workload = bench.workload(options, opened)) {
      if (options.warmUp() > 0) {
        context.out().println("warm-up, operations " + options.warmUp());
      }
      workload.prepare();
      context.out().println("starting benchmark...");
      if (context.terminal()) {
        try (AutoCloseable progress =
            Progress.on(
                context.err(), options.type().label(), options.loop(), recorder::progress)) {
          workload.run(options.loop(), recorder);
        }
      } else {
        workload.run(options.loop(), recorder);
      }
    }
    return recorder.figures();
  }
}
