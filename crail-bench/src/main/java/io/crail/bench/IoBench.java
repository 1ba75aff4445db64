/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.CrailStore;
import io.crail.client.ClientKeys;
import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.commons.cli.Option;

/**
 * The benchmark of a cluster, seen from one client. Options and names of types are Apache Crail's.
 * Each operation's latency is taken from its issue to its completion; warm-up is not in the
 * figures.
 */
public final class IoBench {
  /** Exit code: measured. */
  public static final int OK = 0;

  /** Exit code: the cluster, or what is on it, did not allow to measure. */
  public static final int FAILED = 1;

  /** Exit code: the command line or the configuration is none. */
  public static final int USAGE = 2;

  private static final int HELP_WIDTH = 100;

  private final BenchOptions options;
  private final BenchContext context;
  private final LongSupplier clock;

  private IoBench(BenchOptions options, BenchContext context, LongSupplier clock) {
    this.options = options;
    this.context = context;
    this.clock = clock;
  }

  /**
   * Runs a command.
   *
   * @param args the arguments behind {@code iobench}
   * @return the exit code: {@link #OK}, {@link #FAILED} or {@link #USAGE}
   */
  public static int run(String[] args, BenchContext context) {
    Optional<BenchOptions> options;
    try {
      options = BenchOptions.parse(args);
    } catch (UsageException e) {
      context.err().println("iobench: " + Printable.line(e.getMessage()));
      context.err().println("crail iobench --help explains options and types");
      return USAGE;
    }
    if (options.isEmpty()) {
      context.out().print(help());
      return OK;
    }
    try {
      new IoBench(options.get(), context, System::nanoTime).measure();
      return OK;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      context.err().println("iobench: interrupted");
    } catch (ConfigException e) {
      context.err().println("iobench: " + Printable.line(e.getMessage()));
      return USAGE;
    } catch (BenchException | IOException e) {
      context.err().println("iobench: " + Printable.line(e.getMessage()));
    } catch (Exception e) {
      // Whatever the store throws by its signature: told whole, since it should not happen.
      context.err().println("iobench: " + e);
      e.printStackTrace(context.err());
    }
    return FAILED;
  }

  private void measure() throws Exception {
    Configuration configuration = context.source().open();
    BenchOptions sized = options.type().usesSize() ? withSize(configuration) : options;
    context.out().println(sized.describe());
    List<Figures> experiments = new ArrayList<>();
    CrailStore store = null;
    try {
      for (int i = 0; i < options.experiments(); i++) {
        if (options.experiments() > 1) {
          context.out().println("experiment " + i);
        }
        if (store == null) {
          store = CrailStore.newInstance(CrailConfiguration.of(configuration));
        }
        Figures figures = experiment(new BenchRun(sized, store, context.embedded(), context.err()));
        new Report(context.out()).print(figures);
        experiments.add(figures);
        if (!options.keepOpen()) {
          CrailStore closing = store;
          store = null;
          closing.close();
        }
      }
    } finally {
      if (store != null) {
        store.close();
      }
    }
    if (experiments.size() > 1) {
      new Report(context.out()).printSummary(experiments);
    }
  }

  private Figures experiment(BenchRun run) throws Exception {
    BenchOptions sized = run.options();
    Recorder recorder = new Recorder(clock);
    try (Workload workload = sized.type().workload(run)) {
      if (sized.warmUp() > 0) {
        context.out().println("warm-up, operations " + sized.warmUp());
      }
      workload.prepare();
      context.out().println("starting benchmark...");
      if (context.terminal()) {
        try (AutoCloseable progress =
            Progress.on(context.err(), sized.type().label(), sized.loop(), recorder::progress)) {
          workload.run(sized.loop(), recorder);
        }
      } else {
        workload.run(sized.loop(), recorder);
      }
    }
    return recorder.figures();
  }

  private BenchOptions withSize(Configuration configuration) {
    return options.size() > 0
        ? options
        : options.withSize((int) (long) configuration.get(ClientKeys.BUFFER_SIZE));
  }

  /** The text that explains options and types. */
  public static String help() {
    StringBuilder text = new StringBuilder("Usage: crail iobench -t <type> [options]\n\n");
    text.append(
        "Measures a cluster from one client.\n\nOptions (and what they are when absent):\n");
    for (Option option : BenchOptions.declared().getOptions()) {
      String letter = option.getOpt() == null ? "    " : "-" + option.getOpt() + ", ";
      String argument = option.hasArg() ? " <" + option.getArgName() + ">" : "";
      String name = "  " + letter + "--" + option.getLongOpt() + argument;
      text.append(String.format(Locale.ROOT, "%-32s", name));
      wrap(text, option.getDescription(), 32);
    }
    text.append("\nTypes, in any letter case:\n");
    for (BenchType type : BenchType.values()) {
      text.append(String.format(Locale.ROOT, "  %-20s", type.label()));
      wrap(text, type.explanation(), 22);
      text.append(" ".repeat(22)).append("crail iobench ").append(type.example()).append('\n');
    }
    return text.toString();
  }

  /** Appends words from a column on, in lines of limited width. */
  private static void wrap(StringBuilder text, String sentence, int column) {
    int at = column;
    for (String word : sentence.split(" ")) {
      if (at > column && at + word.length() >= HELP_WIDTH) {
        text.append('\n').append(" ".repeat(column));
        at = column;
      }
      text.append(at > column ? " " : "").append(word);
      at += word.length() + 1;
    }
    text.append('\n');
  }
}
