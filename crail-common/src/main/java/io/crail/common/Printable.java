/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.util.Locale;

/**
 * Makes text from outside, such as a path, safe for a log or a terminal. Characters that would end
 * a line or control the terminal become escapes. Applied twice, the result is the same. Stateless.
 */
public final class Printable {
  private Printable() {}

  /**
   * The text in one line, with escapes such as {@code \n}, {@code \t} and {@code \u001b} for
   * control characters.
   */
  public static String line(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (isControl(text.charAt(i))) {
        return escape(text, i, false);
      }
    }
    return text;
  }

  /** The same for a text of several lines; its line ends stay. */
  public static String lines(String text) {
    return escape(text, 0, true);
  }

  /** True when {@link #line} does not change the text. */
  public static boolean isPrintable(String text) {
    return text.chars().noneMatch(character -> isControl((char) character));
  }

  /** The characters of a text that {@link #line} would change. */
  public static String controlsOf(String text) {
    return text.chars()
        .filter(character -> isControl((char) character))
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  private static String escape(String text, int from, boolean keepLines) {
    StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, from);
    for (int i = from; i < text.length(); i++) {
      char character = text.charAt(i);
      if (!isControl(character) || (keepLines && character == '\n')) {
        escaped.append(character);
        continue;
      }
      switch (character) {
        case '\n' -> escaped.append("\\n");
        case '\r' -> escaped.append("\\r");
        case '\t' -> escaped.append("\\t");
        default -> escaped.append(String.format(Locale.ROOT, "\\u%04x", (int) character));
      }
    }
    return escaped.toString();
  }

  /** Also line separators, and marks that change the direction of the text after them. */
  private static boolean isControl(char character) {
    return character < 0x20
        || (character >= 0x7f && character <= 0x9f)
        || (character >= 0x2028 && character <= 0x202e)
        || (character >= 0x2066 && character <= 0x2069);
  }
}
