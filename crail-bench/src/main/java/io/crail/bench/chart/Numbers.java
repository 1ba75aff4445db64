/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.List;
import java.util.Locale;

/** Formats the numbers of charts. It cannot parse. */
final class Numbers extends NumberFormat {
  private static final long serialVersionUID = 1;

  private final int base;
  private final double least;
  private final List<String> units;

  private Numbers(int base, double least, String... units) {
    this.base = base;
    this.least = least;
    this.units = List.of(units);
  }

  /** Plain numbers: 0.1, 10, 1,000. */
  static NumberFormat plain() {
    return new Numbers(1, Double.MAX_VALUE);
  }

  /** Counts with few zeros: 0.5, 2,000, 20k, 1.5M. */
  static NumberFormat counts() {
    return new Numbers(1000, 10_000, "k", "M", "G");
  }

  /** Bytes as options write them: 512, 4k, 1m. */
  static NumberFormat bytes() {
    return new Numbers(1024, 1024, "k", "m", "g");
  }

  /** A figure beside a point, with about three digits: 0.12, 4.56, 78.9, 1,234, 56.7k, 1.91M. */
  static String brief(double figure) {
    if (figure >= 1e6) {
      return brief(figure / 1e6) + "M";
    }
    if (figure >= 1e4) {
      return brief(figure / 1e3) + "k";
    }
    int decimals = figure >= 100 ? 0 : figure >= 10 ? 1 : 2;
    return String.format(Locale.ROOT, "%,." + decimals + "f", figure);
  }

  @Override
  public StringBuffer format(double number, StringBuffer text, FieldPosition position) {
    double shown = number;
    String unit = "";
    for (String next : units) {
      if (shown >= base && number >= least) {
        shown /= base;
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
