/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import io.crail.bench.options.OptionErrors;
import io.crail.bench.record.OptionException;
import io.crail.common.config.ConfigType;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/** The command line of a comparison. An error names the option and what is expected. Immutable. */
public final class LabOptions {
  private final CommandLine line;

  private LabOptions(CommandLine line) {
    this.line = line;
  }

  /**
   * Reads a command line.
   *
   * @param valued the options that have a value
   * @param flags the other ones
   * @throws OptionException when there is anything else
   */
  public static LabOptions parse(String[] args, List<String> valued, List<String> flags)
      throws OptionException {
    Options options = new Options();
    valued.forEach(name -> options.addOption(Option.builder().longOpt(name).hasArg().get()));
    flags.forEach(name -> options.addOption(Option.builder().longOpt(name).get()));
    CommandLine line;
    try {
      line = DefaultParser.builder().setAllowPartialMatching(false).get().parse(options, args);
    } catch (ParseException e) {
      throw new OptionException(OptionErrors.text(options, List.of(), e));
    }
    if (!line.getArgList().isEmpty()) {
      throw new OptionException("'" + line.getArgList().get(0) + "' belongs to no option");
    }
    return new LabOptions(line);
  }

  /** Whether an option without a value is there. */
  public boolean has(String name) {
    return line.hasOption(name);
  }

  /** A whole number. */
  public int number(String name, int absent, int least, int most) throws OptionException {
    String text = line.getOptionValue(name);
    return text == null ? absent : number(name, text, least, most);
  }

  /** Whole numbers, separated by commas: ascending, each once. */
  public List<Integer> numbers(String name, int absent, int least, int most)
      throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return List.of(absent);
    }
    Set<Integer> numbers = new TreeSet<>();
    for (String part : text.split(",", -1)) {
      numbers.add(number(name, part, least, most));
    }
    return List.copyOf(numbers);
  }

  private static int number(String name, String text, int least, int most) throws OptionException {
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a value out of range.
    }
    throw new OptionException(
        "--" + name + " " + text + ": expected a whole number from " + least + " to " + most);
  }

  /**
   * A text that has a form; null when absent.
   *
   * @param expected the form in words
   */
  public String text(String name, Pattern form, String expected) throws OptionException {
    String text = line.getOptionValue(name);
    if (text != null && !form.matcher(text).matches()) {
      throw new OptionException("--" + name + " " + text + ": expected " + expected);
    }
    return text;
  }

  /** The words of a command; none when absent. */
  public List<String> command(String name) {
    String text = line.getOptionValue(name);
    return text == null || text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
  }

  /** A number of bytes, such as 64m. */
  public long bytes(String name, long absent, long least, long most) throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    try {
      long value = ConfigType.parseBytes(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, like a value out of range.
    }
    throw new OptionException(
        "--" + name + " " + text + ": expected " + least + " to " + most + " bytes, as in 64m");
  }

  /** A path; null when absent. */
  public Path path(String name) throws OptionException {
    String text = line.getOptionValue(name);
    try {
      return text == null ? null : Path.of(text);
    } catch (InvalidPathException e) {
      throw new OptionException("--" + name + ": " + e.getMessage());
    }
  }

  /**
   * Some of these words, separated by commas; all when absent. In their order, for any order of the
   * arguments.
   *
   * @param kind what such a word stands for
   */
  public Set<String> words(String name, String kind, List<String> known) throws OptionException {
    String text = line.getOptionValue(name);
    List<String> words = text == null ? known : List.of(text.split(",", -1));
    for (String word : words) {
      if (!known.contains(word)) {
        throw new OptionException(
            "--" + name + ": there is no " + kind + " '" + word + "'; there are: " + known);
      }
    }
    Set<String> chosen = new LinkedHashSet<>(known);
    chosen.retainAll(words);
    return chosen;
  }

  /**
   * Checks that a file can be written, before time is spent.
   *
   * @param file the value of the option; null when absent
   * @throws OptionException when it cannot be written
   */
  public static void checkFile(String name, Path file) throws OptionException {
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new OptionException("--" + name + ": " + file + ": there is no directory " + directory);
    }
    if (Files.isDirectory(file) || !Files.isWritable(Files.exists(file) ? file : directory)) {
      throw new OptionException("--" + name + ": " + file + ": cannot be written");
    }
  }
}
