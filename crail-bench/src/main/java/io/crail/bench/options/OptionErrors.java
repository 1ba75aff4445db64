/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.common.Suggestion;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.cli.MissingArgumentException;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.apache.commons.cli.UnrecognizedOptionException;

/** Words for a command line that could not be parsed. Stateless. */
public final class OptionErrors {
  /** Every other letter is as near as the right one. */
  private static final int LEAST_LENGTH = 3;

  private OptionErrors() {}

  /**
   * What is wrong, with the option that was probably meant.
   *
   * @param options the options that there are
   * @param more words of other options that there are, such as {@code --set}
   */
  public static String text(Options options, List<String> more, ParseException error) {
    if (error instanceof UnrecognizedOptionException unknown) {
      String word = unknown.getOption();
      return "there is no option '" + word + "'" + suggestion(options, more, word);
    }
    if (error instanceof MissingArgumentException missing) {
      return "option " + name(missing.getOption()) + " needs a value";
    }
    return error.getMessage();
  }

  private static String suggestion(Options options, List<String> more, String word) {
    if (word.length() < LEAST_LENGTH) {
      return "";
    }
    List<String> known = new ArrayList<>(more);
    for (Option option : options.getOptions()) {
      if (option.getLongOpt() != null) {
        known.add("--" + option.getLongOpt());
      }
    }
    int value = word.indexOf('=');
    return Suggestion.of(value < 0 ? word : word.substring(0, value), known);
  }

  private static String name(Option option) {
    return option.getOpt() == null ? "--" + option.getLongOpt() : "-" + option.getOpt();
  }
}
