/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

/**
 * Encodes any key as the name of a node, and decodes it. A character that a path cannot have, the
 * percent sign, and braces become a percent sign and two digits. So a spread table places a record
 * by its whole name, and another name with that name in braces is beside it. The empty key becomes
 * a percent sign alone. No key has a name that begins with {@link #RESERVED}.
 */
final class KeyNames {
  /** The beginning of names that belong to no key. */
  static final String RESERVED = "%-";

  private static final char ESCAPE = '%';
  private static final String EMPTY = "%";
  private static final String DIGITS = "0123456789abcdef";

  private KeyNames() {}

  /** The name of a key. */
  static String encode(String key) {
    if (key.isEmpty()) {
      return EMPTY;
    }
    boolean dots = key.equals(".") || key.equals("..");
    if (!dots && isPlain(key)) {
      return key;
    }
    StringBuilder name = new StringBuilder(key.length() + 8);
    for (int i = 0; i < key.length(); i++) {
      char c = key.charAt(i);
      if (isEncoded(c) || dots) {
        name.append(ESCAPE).append(DIGITS.charAt(c >> 4)).append(DIGITS.charAt(c & 0xf));
      } else {
        name.append(c);
      }
    }
    return name.toString();
  }

  private static boolean isPlain(String key) {
    for (int i = 0; i < key.length(); i++) {
      if (isEncoded(key.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isEncoded(char c) {
    return c == '/' || c == ESCAPE || c == '{' || c == '}' || c < ' ';
  }

  /** The key of a name; null when the name belongs to no key. */
  static String decode(String name) {
    if (name.indexOf(ESCAPE) < 0) {
      return name;
    }
    if (name.equals(EMPTY)) {
      return "";
    }
    StringBuilder key = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c != ESCAPE) {
        key.append(c);
        continue;
      }
      int high = i + 2 < name.length() ? DIGITS.indexOf(name.charAt(i + 1)) : -1;
      int low = high < 0 ? -1 : DIGITS.indexOf(name.charAt(i + 2));
      if (low < 0) {
        return null;
      }
      key.append((char) (high << 4 | low));
      i += 2;
    }
    return key.toString();
  }
}
