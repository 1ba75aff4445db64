/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;

/** The greatest lengths, in bytes, of the texts that several messages carry. */
public final class TextLimits {
  /** Limit of a host's name or address. It is the greatest length of a DNS name. */
  public static final int HOST = 255;

  /** Limit of a storage tier's name. */
  public static final int TIER = 32;

  /** Limit of the path of a datanode's region files. */
  public static final int REGION_PATH = 1024;

  /** Limit of a user's or a group's name. */
  public static final int USER = 255;

  private TextLimits() {}

  /** Returns what is wrong with the name of a user or a group, or null. */
  public static String checkUser(Utf8 name) {
    if (name.length() == 0 || name.length() > USER) {
      return "must have 1 to " + USER + " bytes";
    }
    String text = name.toString();
    for (int i = 0; i < text.length(); i++) {
      // Includes control characters beyond ASCII, and characters that some programs take for a line
      // break.
      int type = Character.getType(text.charAt(i));
      if (type == Character.CONTROL
          || type == Character.LINE_SEPARATOR
          || type == Character.PARAGRAPH_SEPARATOR) {
        return "must have no control characters";
      }
    }
    return Utf8.of(text).equals(name) ? null : "must be UTF-8";
  }

  /** Returns what is wrong with the length of a host's name in a configuration, or null. */
  public static String checkHost(String host) {
    return Utf8.of(host).length() > HOST ? "must have at most " + HOST + " bytes" : null;
  }
}
