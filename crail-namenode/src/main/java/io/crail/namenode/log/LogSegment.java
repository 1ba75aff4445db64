/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.util.Locale;

/** The names of a log's files, which are numbered from 1 in the order in which they are used. */
final class LogSegment {
  private static final String ENDING = ".log";
  private static final int DIGITS = 10;

  private LogSegment() {}

  static String name(long segment) {
    return String.format(Locale.ROOT, "%0" + DIGITS + "d%s", segment, ENDING);
  }

  static boolean isName(String name) {
    return name.matches("[0-9]{" + DIGITS + "}\\" + ENDING);
  }

  static long of(String name) {
    return Long.parseLong(name.substring(0, DIGITS));
  }
}
