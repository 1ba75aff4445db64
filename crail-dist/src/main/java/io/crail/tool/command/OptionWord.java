/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An option, for completion.
 *
 * @param spellings its letter and its word, with their dashes; at least one
 * @param isValued whether a value follows
 * @param values the values that there are; empty when there are others
 */
public record OptionWord(List<String> spellings, boolean isValued, List<String> values) {
  /** As {@code -t, --type <name>} at the beginning of a line. */
  private static final Pattern IN_HELP =
      Pattern.compile("^ {2,6}(?:(-[A-Za-z])(?:, )?)?(--[a-z][a-z-]*)?( <[^>]+>)?(?:[ =].*)?$");

  /** Copies the lists. */
  public OptionWord {
    spellings = List.copyOf(spellings);
    values = List.copyOf(values);
  }

  /** An option with these values. */
  public OptionWord withValues(List<String> newValues) {
    return new OptionWord(spellings, isValued, newValues);
  }

  /** The options that a help explains, one in a line. */
  public static List<OptionWord> inHelp(String help) {
    List<OptionWord> found = new ArrayList<>();
    for (String line : help.lines().toList()) {
      Matcher matcher = IN_HELP.matcher(line);
      if (matcher.matches() && (matcher.group(1) != null || matcher.group(2) != null)) {
        List<String> spellings = new ArrayList<>();
        for (int group = 1; group <= 2; group++) {
          if (matcher.group(group) != null) {
            spellings.add(matcher.group(group));
          }
        }
        found.add(new OptionWord(spellings, matcher.group(3) != null, List.of()));
      }
    }
    return found;
  }
}
