/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.bench.record.OptionException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/**
 * The command line of a benchmark. Letters and their meaning are Apache Crail's. Options that
 * Apache Crail lacks have only a long name.
 *
 * @param <T> the types of the benchmark
 */
public final class BenchSyntax<T extends LoadType> {
  /** The most operations in flight. */
  static final int MAX_BATCH = 65_536;

  private static final String HELP = "h";
  private static final int HELP_WIDTH = 100;

  /** The most files in a directory: their names have eight digits. */
  private static final int MAX_NAMES = 100_000_000;

  /** Checks the value of {@code -f}. */
  @FunctionalInterface
  public interface PathCheck {
    /**
     * Checks a path that is not blank.
     *
     * @throws Exception whose message says what is wrong
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
   * Declares the options of all benchmarks.
   *
   * @param command the word after {@code crail}
   * @param purpose a sentence
   * @param names the default of {@code -n}
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
        "bytes of an operation, as in 4096, 4k or 1m; a list such as 1k,64k,1m is measured one size"
            + " after the other (crail.buffersize)");
    with("k", "loop", "count", "operations of each worker (1)");
    with("w", "warm-up", "count", "warm-up operations, which do not count (32)");
    with("e", "experiments", "count", "number of measured experiments (1)");
    with(
        null,
        "drop",
        "count",
        "experiments before those of -e, for each size, while the JVM compiles; they are printed, but"
            + " are in no summary, file or chart (0)");
    with("o", "open", "true|false", "one store for all experiments (false)");
    with(null, "seed", "number", "seed of random choices (a new one each time)");
    with(
        null,
        "touch",
        "true|false",
        "move all bytes once before the measurement, so that no figure includes the first use of"
            + " memory (true)");
    LoadSyntax.declare(options);
    options.addOption(Option.builder(HELP).longOpt("help").desc("explains all this").get());
  }

  /** Declares an option, or replaces its description. */
  public BenchSyntax<T> with(String letter, String name, String argument, String description) {
    options.addOption(OptionValues.declare(letter, name, argument, description));
    return this;
  }

  /** The word after {@code crail}. */
  public String command() {
    return command;
  }

  /**
   * Reads a command line.
   *
   * @return the options; empty when the user asks for help
   * @throws OptionException that names the first error
   */
  public Optional<BenchOptions<T>> parse(String[] args) throws OptionException {
    CommandLine line;
    try {
      line = DefaultParser.builder().setAllowPartialMatching(false).get().parse(options, args);
    } catch (ParseException e) {
      throw new OptionException(OptionErrors.text(options, List.of(), e));
    }
    if (line.hasOption(HELP)) {
      return Optional.empty();
    }
    if (!line.getArgList().isEmpty()) {
      throw new OptionException("'" + line.getArgList().get(0) + "' belongs to no option");
    }
    T type = type(line.getOptionValue("t"));
    String path = line.getOptionValue("f", "/tmp.dat");
    check(path);
    OptionValues values = new OptionValues(line);
    LoadSettings frame = new LoadSyntax(type, line).read();
    return Optional.of(
        new BenchOptions<>(
            type,
            path,
            frame.sizes().isEmpty() ? 0 : frame.sizes().get(0),
            values.number("k", 1, 1, Long.MAX_VALUE / LoadSyntax.MAX_SIZE),
            (int) values.number("b", 1, 1, MAX_BATCH),
            (int) values.number("c", 0, -1, Integer.MAX_VALUE),
            (int) values.number("p", 0, Integer.MIN_VALUE, Integer.MAX_VALUE),
            values.number("w", 32, 0, Integer.MAX_VALUE),
            (int) values.number("drop", 0, 0, 1_000_000),
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
            0,
            false));
  }

  private T type(String name) throws OptionException {
    if (name == null) {
      throw new OptionException("-t is missing; there are: " + LoadType.names(types));
    }
    return LoadType.find(types, name)
        .orElseThrow(
            () ->
                new OptionException(
                    "-t: there is no type '" + name + "'; there are: " + LoadType.names(types)));
  }

  private void check(String path) throws OptionException {
    if (path.isBlank()) {
      throw new OptionException("-f: a path is expected");
    }
    try {
      pathCheck.check(path);
    } catch (Exception e) {
      throw new OptionException("-f: " + e.getMessage());
    }
  }

  /** The text that explains options and types. */
  public String help() {
    StringBuilder text = new StringBuilder("Usage: crail " + command + " -t <type> [options]\n\n");
    wrap(text, purpose, 0);
    text.append("\nOptions (and what they are when absent):\n");
    // Options with a letter come first, since most commands need them.
    List<Option> sorted = new ArrayList<>(options.getOptions());
    sorted.sort(
        Comparator.comparing(option -> option.getOpt() == null || option.getOpt().equals(HELP)));
    for (Option option : sorted) {
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
