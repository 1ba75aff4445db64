/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.util.List;
import java.util.Locale;

/**
 * A command line that works, for the help.
 *
 * @param line the whole line, beginning with {@code crail}
 * @param meaning what it does, in a few words
 */
public record Example(String line, String meaning) {
  private static final int WIDEST = 48;

  /** The examples of a help, the meanings below each other, and an empty line; nothing for none. */
  public static String text(List<Example> examples) {
    if (examples.isEmpty()) {
      return "";
    }
    int width =
        examples.stream()
            .mapToInt(each -> each.line.length())
            .filter(each -> each <= WIDEST)
            .max()
            .orElse(0);
    StringBuilder text = new StringBuilder("Examples:\n");
    for (Example each : examples) {
      String end = each.line.length() > width ? "\n  " + " ".repeat(width) : "";
      text.append(String.format(Locale.ROOT, "  %-" + Math.max(width, 1) + "s", each.line))
          .append(end);
      text.append("  ").append(each.meaning).append('\n');
    }
    return text.append('\n').toString();
  }
}
