/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.bench.record.OptionException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/**
 * Parses and checks the values of options. An error names the option, its value and what is
 * expected.
 */
final class OptionValues {
  private final CommandLine line;

  OptionValues(CommandLine line) {
    this.line = line;
  }

  /** A whole number. */
  long number(String name, long absent, long least, long most) throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    try {
      long value = Long.parseLong(text.strip());
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a value out of range.
    }
    throw bad(name, text, "a whole number from " + least + " to " + most);
  }

  /** Numbers of bytes, separated by commas, each at least one; an empty list when absent. */
  List<Integer> sizes(String name, int most) throws OptionException {
    String text = line.getOptionValue(name);
    List<Integer> sizes = new ArrayList<>();
    if (text != null) {
      for (String each : text.split(",", -1)) {
        int size = (int) bytes(name, each, text, most);
        if (sizes.contains(size)) {
          throw bad(name, text, "each size once");
        }
        sizes.add(size);
      }
    }
    return sizes;
  }

  /** A rate; 0 when absent. */
  double rate(String name, double most) throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return 0;
    }
    try {
      double value = Double.parseDouble(text.strip());
      if (value > 0 && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a value out of range.
    }
    throw bad(name, text, "a number above 0, at most " + (long) most);
  }

  private static long bytes(String name, String size, String text, long most)
      throws OptionException {
    String lower = size.strip().toLowerCase(Locale.ROOT);
    int shift = lower.endsWith("k") ? 10 : lower.endsWith("m") ? 20 : lower.endsWith("g") ? 30 : 0;
    String digits = shift == 0 ? lower : lower.substring(0, lower.length() - 1);
    try {
      long value = Long.parseLong(digits);
      if (value >= 1 && value <= most >> shift) {
        return value << shift;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a value out of range.
    }
    throw bad(
        name, text, "1 to " + most + " bytes, as in 4096, 64k or 1m, or a list as in 1k,64k,1m");
  }

  /** True or false. */
  boolean flag(String name, boolean absent) throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
      return Boolean.parseBoolean(text.toLowerCase(Locale.ROOT));
    }
    throw bad(name, text, "true or false");
  }

  /** Declares an option with a value. The letter may be null. */
  static Option declare(String letter, String name, String argument, String description) {
    return Option.builder(letter).longOpt(name).hasArg().argName(argument).desc(description).get();
  }

  private static OptionException bad(String name, String text, String expected) {
    String option = name.length() == 1 ? "-" + name : "--" + name;
    return new OptionException(option + " " + text + ": expected " + expected);
  }
}
