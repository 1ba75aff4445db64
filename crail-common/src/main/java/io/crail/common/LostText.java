/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

/**
 * Finds text that is no longer what its author wrote. Java decodes arguments, the environment and
 * names of files by the charset of the locale, and puts U+FFFD in the place of each byte that it
 * cannot decode. So different texts become one, and such a text must name nothing. Stateless.
 */
public final class LostText {
  /** What to do about it, for messages. */
  public static final String CURE = "start the program with LC_ALL=C.UTF-8, and write UTF-8";

  private static final char REPLACEMENT = '\uFFFD';

  private LostText() {}

  /** True for a text that has lost bytes. */
  public static boolean isIn(CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == REPLACEMENT) {
        return true;
      }
    }
    return false;
  }
}
