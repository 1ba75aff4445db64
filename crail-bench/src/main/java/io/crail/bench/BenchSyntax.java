/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.bench.chart.Chart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/**
 * What may be said to a benchmark. Letters and meaning are Apache Crail's; those it does not have
 * are long.
 *
 * @param <T> what it measures
 */
public final class BenchSyntax<T extends LoadType> {
  /** The most operations in flight. */
  static final int MAX_BATCH = 65_536;

  private static final int MAX_THREADS = 1024;
  private static final int MAX_CLIENTS = 256;
  private static final double MAX_RATE = 1e9;
  private static final int HELP_WIDTH = 100;
  private static final int MAX_SIZE = 1 << 30;

  /** The most files of a directory: eight digits in a name. */
  private static final int MAX_NAMES = 100_000_000;

  /** Checks what {@code -f} says. */
  @FunctionalInterface
  public interface PathCheck {
    /**
     * Checks a path that is not blank.
     *
     * @throws Exception whose message says what is wrong with it
     */
    void check(String path) throws Exception;
  }

  private final String command;
  private final String purpose;
  private final List<T> types;
  private final PathCheck pathCheck;
  private final int names;
  private final Options options = new Options();

  /**
   * Declares what every benchmark takes.
   *
   * @param command the word behind {@code crail}
   * @param purpose a sentence
   * @param names what {@code -n} is when it is absent
   */
  public BenchSyntax(
      String command, String purpose, List<T> types, PathCheck pathCheck, int names) {
    this.command = command;
    this.purpose = purpose;
    this.types = types;
    this.pathCheck = pathCheck;
    this.names = names;
    with("t", "type", "name", "what to measure, in any letter case");
    with("f", "file", "path", "file or directory (/tmp.dat)");
    with(
        "s",
        "size",
        "bytes",
        "bytes of an operation, also 4k, 1m; several as in 1k,64k,1m are measured one after the"
            + " other (crail.buffersize)");
    with("k", "loop", "count", "operations of each worker (1)");
    with("w", "warm-up", "count", "operations before those that count (32)");
    with("e", "experiments", "count", "how often all is measured (1)");
    with("o", "open", "true|false", "one store for all experiments (false)");
    with(null, "seed", "number", "seed of random choices (a new one each time)");
    with(
        null,
        "touch",
        "true|false",
        "move all bytes once before the figures, so that no first use of memory is in them (true)");
    with(
        null,
        "threads",
        "count",
        "workers in a process, each with streams and buffers of its own and one store for all; they"
            + " start together, and their figures are one; those that write use files of their own"
            + " beside -f (1)");
    with(
        null,
        "clients",
        "count",
        "processes with --threads workers each, started by this one, which then does nothing itself"
            + " (1, this process)");
    with(
        null,
        "rate",
        "number",
        "operations a second of all workers together. They start at their time, up to -b in flight,"
            + " and latencies count from that time: an operation that takes long makes those behind"
            + " it late, and that shows. When twice the time is over and five seconds, the rest is"
            + " given up (as fast as operations end)");
    with(null, "json", "file", "settings and figures as JSON; - is standard output (none)");
    with(
        null,
        "plot",
        "file",
        "a chart that ends in .svg or .png: how latencies are distributed, or with several sizes the"
            + " throughput of each (none)");
    options.addOption(Option.builder("h").longOpt("help").desc("explains all this").get());
  }

  /** Declares an option, or declares it anew with another description. */
  public BenchSyntax<T> with(String letter, String name, String argument, String description) {
    options.addOption(OptionValues.declare(letter, name, argument, description));
    return this;
  }

  /** The word behind {@code crail}. */
  String command() {
    return command;
  }

  /**
   * Reads a command line.
   *
   * @return the options, or nothing when help is wanted
   * @throws UsageException that names the first thing wrong
   */
  public Optional<BenchOptions<T>> parse(String[] args) throws UsageException {
    CommandLine line;
    try {
      line = DefaultParser.builder().setAllowPartialMatching(false).get().parse(options, args);
    } catch (ParseException e) {
      throw new UsageException(e.getMessage());
    }
    if (line.hasOption("h")) {
      return Optional.empty();
    }
    if (!line.getArgList().isEmpty()) {
      throw new UsageException("'" + line.getArgList().get(0) + "' belongs to no option");
    }
    T type = type(line.getOptionValue("t"));
    String path = line.getOptionValue("f", "/tmp.dat");
    check(path);
    OptionValues values = new OptionValues(line);
    Frame frame = frame(values, line);
    checkTogether(type, frame);
    return Optional.of(
        new BenchOptions<>(
            type,
            path,
            frame.sizes().isEmpty() ? 0 : frame.sizes().get(0),
            values.number("k", 1, 1, Long.MAX_VALUE / MAX_SIZE),
            (int) values.number("b", 1, 1, MAX_BATCH),
            (int) values.number("c", 0, -1, Integer.MAX_VALUE),
            (int) values.number("p", 0, Integer.MIN_VALUE, Integer.MAX_VALUE),
            values.number("w", 32, 0, Integer.MAX_VALUE),
            (int) values.number("e", 1, 1, 1_000_000),
            values.flag("o", false),
            !values.flag("d", false),
            values.flag("m", true),
            (int) values.number("n", names, 1, MAX_NAMES),
            line.hasOption("seed")
                ? values.number("seed", 0, Long.MIN_VALUE, Long.MAX_VALUE)
                : new SecureRandom().nextInt(),
            values.flag("touch", true),
            frame,
            0));
  }

  private static Frame frame(OptionValues values, CommandLine line) throws UsageException {
    return new Frame(
        values.sizes("s", MAX_SIZE),
        (int) values.number("threads", 1, 1, MAX_THREADS),
        (int) values.number("clients", 1, 1, MAX_CLIENTS),
        values.rate("rate", MAX_RATE),
        line.getOptionValue("json"),
        line.hasOption("plot") ? path("plot", line.getOptionValue("plot")) : null);
  }

  /** Says what has no meaning together, and whether what is to be written can be. */
  private static void checkTogether(LoadType type, Frame frame) throws UsageException {
    boolean sweep = frame.sizes().size() > 1;
    if (sweep && !type.usesSize()) {
      throw new UsageException("-s: " + type.label() + " has no size, so a list means nothing");
    }
    if (sweep && frame.isPaced() && frame.plot() != null) {
      throw new UsageException(
          "--plot: the throughput of several sizes with --rate is what --rate says; leave one out");
    }
    if (frame.plot() != null) {
      try {
        Chart.check(frame.plot());
      } catch (IOException e) {
        throw new UsageException("--plot: " + e.getMessage());
      }
    }
    if (frame.json() != null && !frame.printsJson()) {
      checkJson(path("json", frame.json()), frame.plot());
    }
  }

  private static void checkJson(Path json, Path plot) throws UsageException {
    if (json.equals(plot)) {
      throw new UsageException("--json: " + json + " is what --plot writes");
    }
    Path directory = json.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new UsageException("--json: " + json + ": there is no directory " + directory);
    }
    if (Files.isDirectory(json) || !Files.isWritable(Files.exists(json) ? json : directory)) {
      throw new UsageException("--json: " + json + ": cannot be written");
    }
  }

  private static Path path(String option, String text) throws UsageException {
    if (text.isBlank()) {
      throw new UsageException("--" + option + ": a file is expected");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new UsageException("--" + option + ": " + e.getMessage());
    }
  }

  private T type(String name) throws UsageException {
    if (name == null) {
      throw new UsageException("-t is missing; there are: " + LoadType.names(types));
    }
    return LoadType.find(types, name)
        .orElseThrow(
            () ->
                new UsageException(
                    "-t: there is no type '" + name + "'; there are: " + LoadType.names(types)));
  }

  private void check(String path) throws UsageException {
    if (path.isBlank()) {
      throw new UsageException("-f: a path is expected");
    }
    try {
      pathCheck.check(path);
    } catch (Exception e) {
      throw new UsageException("-f: " + e.getMessage());
    }
  }

  /** The text that explains options and types. */
  public String help() {
    StringBuilder text = new StringBuilder("Usage: crail " + command + " -t <type> [options]\n\n");
    wrap(text, purpose, 0);
    text.append("\nOptions (and what they are when absent):\n");
    for (Option option : options.getOptions()) {
      String letter = option.getOpt() == null ? "    " : "-" + option.getOpt() + ", ";
      String argument = option.hasArg() ? " <" + option.getArgName() + ">" : "";
      String name = "  " + letter + "--" + option.getLongOpt() + argument;
      text.append(String.format(Locale.ROOT, "%-32s", name));
      wrap(text, option.getDescription(), 32);
    }
    text.append("\nTypes, in any letter case:\n");
    int column = 3 + types.stream().mapToInt(type -> type.label().length()).max().orElse(0);
    for (T type : types) {
      text.append("  ").append(type.label());
      text.append(" ".repeat(column - 2 - type.label().length()));
      wrap(text, type.text().explanation(), column);
      text.append(" ".repeat(column)).append("crail ").append(command).append(' ');
      text.append(type.text().example()).append('\n');
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
