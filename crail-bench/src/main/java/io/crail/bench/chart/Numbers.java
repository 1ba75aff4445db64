/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.Locale;

/** Formats the numbers at an axis. It cannot parse. */
final class Numbers extends NumberFormat {
  private static final long serialVersionUID = 1;

  private final boolean bytes;

  private Numbers(boolean bytes) {
    this.bytes = bytes;
  }

  /** Plain numbers: 0.1, 10, 1,000. */
  static NumberFormat plain() {
    return new Numbers(false);
  }

  /** Bytes as options write them: 512, 4k, 1m. */
  static NumberFormat bytes() {
    return new Numbers(true);
  }

  /** A figure beside a point, with about three digits: 0.12, 4.56, 78.9, 1,234. */
  static String brief(double figure) {
    int decimals = figure >= 100 ? 0 : figure >= 10 ? 1 : 2;
    return String.format(Locale.ROOT, "%,." + decimals + "f", figure);
  }

  @Override
  public StringBuffer format(double number, StringBuffer text, FieldPosition position) {
    double shown = number;
    String unit = "";
    for (String next : new String[] {"k", "m", "g"}) {
      if (bytes && shown >= 1024) {
        shown /= 1024;
        unit = next;
      }
    }
    // A power of ten or two loses digits through a logarithm and back; these are rounded away.
    return text.append(
            new DecimalFormat("#,##0.######", DecimalFormatSymbols.getInstance(Locale.ROOT))
                .format(shown))
        .append(unit);
  }

  @Override
  public StringBuffer format(long number, StringBuffer text, FieldPosition position) {
    return format((double) number, text, position);
  }

  @Override
  public Number parse(String text, ParsePosition position) {
    throw new UnsupportedOperationException("written only");
  }
}
