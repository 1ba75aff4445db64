/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.util.Locale;

/** Numbers of bytes as people read them. */
public final class ByteText {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private ByteText() {}

  /** For example {@code 1 GiB} or {@code 1.5 MiB}. */
  public static String of(long bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    String number =
        value == Math.rint(value)
            ? String.valueOf((long) value)
            : String.format(Locale.ROOT, "%.1f", value);
    return number + " " + UNITS[unit];
  }
}
