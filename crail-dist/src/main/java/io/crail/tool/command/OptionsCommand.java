/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.bench.options.OptionErrors;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/** A command whose arguments are options, which it declares. */
public abstract class OptionsCommand implements Command {
  private final String name;
  private final String sentence;
  private final String operands;
  private final String details;
  private final Options options;

  /**
   * Declares a command.
   *
   * @param operands the arguments that may follow the options, for the help; empty for none
   * @param details more text for the help; may be empty
   */
  protected OptionsCommand(
      String name, String sentence, String operands, String details, Option... options) {
    this.name = name;
    this.sentence = sentence;
    this.operands = operands;
    this.details = details;
    this.options = new Options();
    for (Option option : options) {
      this.options.addOption(option);
    }
  }

  /** An option with a value. */
  public static Option valued(String letter, String word, String value, String meaning) {
    return Option.builder(letter).longOpt(word).hasArg().argName(value).desc(meaning).get();
  }

  /** An option without a value. */
  public static Option flag(String letter, String word, String meaning) {
    return Option.builder(letter).longOpt(word).desc(meaning).get();
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String sentence() {
    return sentence;
  }

  @Override
  public final String help() {
    StringBuilder text = new StringBuilder("Usage: crail ").append(name);
    if (!options.getOptions().isEmpty()) {
      text.append(" [options]");
    }
    if (!operands.isEmpty()) {
      text.append(' ').append(operands);
    }
    text.append("\n\n").append(Character.toUpperCase(sentence.charAt(0)));
    text.append(sentence.substring(1)).append(".\n").append(details());
    if (!options.getOptions().isEmpty()) {
      text.append("\nOptions:\n");
      for (Option option : options.getOptions()) {
        String spelling = "-" + option.getOpt() + ", --" + option.getLongOpt() + value(option);
        text.append(String.format(Locale.ROOT, "  %-28s %s%n", spelling, option.getDescription()));
      }
    }
    return text.toString();
  }

  /** More text for the help, which is made when it is shown. */
  protected String details() {
    return details;
  }

  private static String value(Option option) {
    if (!option.hasArg()) {
      return "";
    }
    String value = "<" + option.getArgName() + ">";
    return option.hasOptionalArg() ? "[=" + value + "]" : " " + value;
  }

  @Override
  public final List<OptionWord> options() {
    return options.getOptions().stream().map(this::word).toList();
  }

  private OptionWord word(Option option) {
    boolean needsValue = option.hasArg() && !option.hasOptionalArg();
    return new OptionWord(
        List.of("-" + option.getOpt(), "--" + option.getLongOpt()),
        needsValue,
        needsValue ? values("--" + option.getLongOpt()) : List.of());
  }

  /** The values that an option with a value may have, for completion; empty when they are free. */
  protected List<String> values(String option) {
    return List.of();
  }

  @Override
  public final int run(CommandContext context, List<String> arguments) throws Exception {
    return run(context, parse(arguments));
  }

  /**
   * Parses a command line, which may be wrong in ways that only the command itself knows.
   *
   * @throws UsageException that names the first option or argument that is not declared
   */
  public final CommandLine parse(List<String> arguments) throws UsageException {
    CommandLine line;
    try {
      line =
          DefaultParser.builder()
              .setAllowPartialMatching(false)
              .get()
              .parse(options, arguments.toArray(new String[0]), stopsAtOperand());
    } catch (ParseException e) {
      String hint = hint(arguments);
      throw new UsageException(
          OptionErrors.text(options, CommonOptions.words(), e)
              + (hint.isEmpty() ? "" : "; " + hint));
    }
    if (operands.isEmpty() && !line.getArgList().isEmpty()) {
      throw new UsageException("unexpected argument '" + line.getArgList().get(0) + "'");
    }
    return line;
  }

  /** Whether all that follows the first operand belongs to it, also what looks like an option. */
  protected boolean stopsAtOperand() {
    return false;
  }

  /** What else to say about a command line that cannot be parsed; empty for nothing. */
  protected String hint(List<String> arguments) {
    return "";
  }

  /** Runs the command with the parsed arguments. */
  protected abstract int run(CommandContext context, CommandLine line) throws Exception;

  /**
   * The value of an option as a port.
   *
   * @throws UsageException that names option and value
   */
  protected static int port(CommandLine line, String letter) throws UsageException {
    return number(line, letter, 0, 65535);
  }

  /**
   * The value of an option as a whole number.
   *
   * @throws UsageException that names option, value and what is allowed
   */
  public static int number(CommandLine line, String letter, int least, int most)
      throws UsageException {
    String text = line.getOptionValue(letter);
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message below.
    }
    throw badValue(letter, text, "must be between " + least + " and " + most);
  }

  /**
   * The value of an option as a limit.
   *
   * @param isOfBytes whether it limits bytes, which may have a unit
   * @return the limit; -1 for {@code none}, and when the option is not given
   * @throws UsageException that names option, value and what is allowed
   */
  protected static long limit(CommandLine line, String letter, boolean isOfBytes)
      throws UsageException {
    String text = line.getOptionValue(letter, "none");
    if (text.equals("none")) {
      return -1;
    }
    try {
      long value = isOfBytes ? ConfigType.parseBytes(text) : Long.parseLong(text);
      if (value >= 0) {
        return value;
      }
    } catch (IllegalArgumentException e) {
      // Falls through to the one message below.
    }
    String number = isOfBytes ? "number of bytes, such as 10g" : "whole number from 0";
    throw badValue(letter, text, "must be a " + number + ", or none");
  }

  /**
   * The error for an option that cannot be used.
   *
   * @param text its value
   * @param why what is allowed
   */
  public static UsageException badValue(String letter, String text, String why) {
    return new UsageException("option -" + letter + " has the bad value '" + text + "': " + why);
  }

  /**
   * The value of an option as a time.
   *
   * @param usual its value if it is not given
   * @throws UsageException that names option and value
   */
  protected static Duration time(CommandLine line, String letter, String usual)
      throws UsageException {
    String text = line.getOptionValue(letter, usual);
    try {
      return ConfigType.duration(DurationUnit.SECONDS).parse(text);
    } catch (IllegalArgumentException e) {
      throw badValue(letter, text, e.getMessage());
    }
  }

  /**
   * The value of an option as a time.
   *
   * @throws UsageException that names option, value and what is allowed
   */
  protected static Duration time(CommandLine line, String letter, Duration least, Duration most)
      throws UsageException {
    Duration time = time(line, letter, null);
    if (time.compareTo(least) < 0 || time.compareTo(most) > 0) {
      throw badValue(
          letter,
          line.getOptionValue(letter),
          "must be between " + least.toMillis() + "ms and " + most.toMinutes() + "m");
    }
    return time;
  }

  /**
   * The value of a required option.
   *
   * @throws UsageException that names the option
   */
  protected static String required(CommandLine line, String letter) throws UsageException {
    String value = line.getOptionValue(letter);
    if (value == null) {
      throw new UsageException("option -" + letter + " is missing");
    }
    return value;
  }
}
