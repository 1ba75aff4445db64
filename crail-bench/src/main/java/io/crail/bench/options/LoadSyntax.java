/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.bench.chart.Chart;
import io.crail.bench.record.OptionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Options;

/**
 * The options for {@link LoadSettings}, and the rules for their combinations. Output files are
 * checked here, before the measurement.
 */
final class LoadSyntax {
  /** The most bytes of an operation. */
  static final int MAX_SIZE = 1 << 30;

  private static final int MAX_THREADS = 1024;
  private static final int MAX_CLIENTS = 256;
  private static final double MAX_RATE = 1e9;
  private static final int MAX_WARM_SECONDS = 3600;

  /** Enough for a JVM to compile what one type of operation runs through. */
  private static final int WARM_SECONDS = 2;

  private final LoadType type;
  private final CommandLine line;

  LoadSyntax(LoadType type, CommandLine line) {
    this.type = type;
    this.line = line;
  }

  /** Declares the options that have no letter in Apache Crail. */
  static void declare(Options options) {
    declare(
        options,
        "threads",
        "count",
        "workers in a process; each has its own streams and buffers, and all share one store; they"
            + " start together, and their figures are added; a worker that writes uses its own file"
            + " beside -f (1)");
    declare(
        options,
        "clients",
        "count",
        "processes with --threads workers each; this process starts them and has no workers itself"
            + " (1, this process)");
    declare(
        options,
        "rate",
        "number",
        "operations a second of all workers together. Each operation has a start time, and its"
            + " latency counts from it: when a slow operation delays later ones, their latencies"
            + " include the delay. After twice the planned time and five seconds, the rest is given"
            + " up (as fast as possible)");
    declare(options, "json", "file", "settings and figures as JSON; - is standard output (none)");
    declare(
        options,
        "plot",
        "file",
        "a chart, in a file that ends in .svg or .png: the percentiles of the latencies, or with"
            + " several sizes the throughput of each (none)");
    declare(
        options,
        "baseline",
        "file",
        "what --json of an earlier run has written; the chart of --plot shows those figures too;"
            + " may be repeated (none)");
    declare(
        options,
        "warm-seconds",
        "count",
        "how long the load runs before the first experiment, while the JVM compiles; in no figure"
            + " (2 with several sizes or --plot, else 0)");
  }

  private static void declare(Options options, String name, String argument, String description) {
    options.addOption(OptionValues.declare(null, name, argument, description));
  }

  /** Reads and checks the options. */
  LoadSettings read() throws OptionException {
    OptionValues values = new OptionValues(line);
    List<Integer> sizes = values.sizes("s", MAX_SIZE);
    boolean drawn = sizes.size() > 1 || line.hasOption("plot");
    LoadSettings frame =
        new LoadSettings(
            sizes,
            (int) values.number("threads", 1, 1, MAX_THREADS),
            (int) values.number("clients", 1, 1, MAX_CLIENTS),
            values.rate("rate", MAX_RATE),
            line.getOptionValue("json"),
            line.hasOption("plot") ? path("plot") : null,
            baselines(),
            (int) values.number("warm-seconds", drawn ? WARM_SECONDS : 0, 0, MAX_WARM_SECONDS));
    checkTogether(frame);
    if (frame.plot() != null) {
      checkPlot(frame.plot());
    }
    if (frame.json() != null && !frame.printsJson()) {
      checkJson(path("json"), frame.plot());
    }
    return frame;
  }

  private void checkTogether(LoadSettings frame) throws OptionException {
    if (!type.measures()) {
      for (String option :
          List.of("threads", "clients", "rate", "drop", "json", "plot", "warm-seconds")) {
        if (line.hasOption(option)) {
          throw new OptionException("--" + option + ": " + type.label() + " measures nothing");
        }
      }
    }
    if (!frame.baselines().isEmpty() && frame.plot() == null) {
      throw new OptionException("--baseline: only the chart of --plot shows it");
    }
    boolean sweep = frame.sizes().size() > 1;
    if (sweep && !type.usesSize()) {
      throw new OptionException(
          "-s: " + type.label() + " has no size, so a list of sizes is not allowed");
    }
    if (sweep && frame.isPaced() && frame.plot() != null) {
      throw new OptionException(
          "--plot: with --rate, the throughput of several sizes is always the rate; leave one out");
    }
  }

  private static void checkPlot(Path plot) throws OptionException {
    try {
      Chart.check(plot);
    } catch (IOException e) {
      throw new OptionException("--plot: " + e.getMessage());
    }
  }

  private static void checkJson(Path json, Path plot) throws OptionException {
    if (json.equals(plot)) {
      throw new OptionException("--json: " + json + " is what --plot writes");
    }
    Path directory = json.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new OptionException("--json: " + json + ": there is no directory " + directory);
    }
    if (Files.isDirectory(json) || !Files.isWritable(Files.exists(json) ? json : directory)) {
      throw new OptionException("--json: " + json + ": cannot be written");
    }
  }

  private List<Path> baselines() throws OptionException {
    List<Path> files = new ArrayList<>();
    if (line.hasOption("baseline")) {
      for (String text : line.getOptionValues("baseline")) {
        files.add(path("baseline", text));
      }
    }
    return files;
  }

  private Path path(String option) throws OptionException {
    return path(option, line.getOptionValue(option));
  }

  private static Path path(String option, String text) throws OptionException {
    if (text.isBlank()) {
      throw new OptionException("--" + option + ": a file is expected");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new OptionException("--" + option + ": " + e.getMessage());
    }
  }
}
