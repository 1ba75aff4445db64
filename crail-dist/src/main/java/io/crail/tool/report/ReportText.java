/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.tool.command.Colours;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongFunction;

/**
 * Where and how a report is printed for people.
 *
 * @param out takes the text
 * @param colours the colours there
 * @param sizes how numbers of bytes are written
 */
public record ReportText(PrintStream out, Colours colours, LongFunction<String> sizes) {
  /** Prints a line. */
  public void line(String line) {
    out.println(line);
  }

  /** Prints a line; arguments as those of {@link String#format}. */
  public void line(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
  }

  /** A number of bytes. */
  public String size(long bytes) {
    return sizes.apply(bytes);
  }

  /** A number of things, in the singular for one. */
  public static String count(long number, String thing) {
    return number + " " + thing + (number == 1 ? "" : "s");
  }
}
