/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.common.LostText;

/**
 * Text that the JVM has decoded by the charset of the locale: arguments, and names of local files.
 * Stateless.
 */
public final class DecodedText {
  private DecodedText() {}

  /** The charset of this process; bin/crail makes it UTF-8. */
  public static String charset() {
    return System.getProperty("sun.jnu.encoding", "UTF-8");
  }

  /** Whether a charset is UTF-8, in which Crail names everything. */
  public static boolean isUtf8(String charset) {
    return charset.equalsIgnoreCase("UTF-8");
  }

  /** True when it is unknown which bytes of UTF-8 a text stands for. */
  public static boolean isDoubtful(String text, String charset) {
    return isUtf8(charset) ? LostText.isIn(text) : text.chars().anyMatch(letter -> letter > 0x7f);
  }
}
