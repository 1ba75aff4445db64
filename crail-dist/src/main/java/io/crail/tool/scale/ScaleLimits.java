/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

/**
 * Within which limits a controller keeps the datanodes of a storage class. Immutable.
 *
 * @param high datanodes are added when more than this part of the space is used, above 0 and below
 *     1
 * @param low a datanode is drained when without it less than this part of the space would be used
 * @param target as many are added as bring the use to this part
 * @param rate datanodes are added when clients transfer more bytes a second with each; 0 for no
 *     limit
 * @param least never fewer datanodes
 * @param most never more datanodes
 * @param downWindowMillis for how long the use has to be low before a datanode is drained
 */
record ScaleLimits(
    double high, double low, double target, long rate, int least, int most, long downWindowMillis) {
  /**
   * Checks them against each other.
   *
   * @throws IllegalArgumentException that says which do not fit
   */
  ScaleLimits {
    require(low > 0, "--low must be above 0 %");
    require(high < 1, "--high must be below 100 %, which no use is above");
    require(low < high, percent("--low", low) + " must be below " + percent("--high", high));
    require(
        target > low && target <= high,
        percent("--target", target)
            + " must be above "
            + percent("--low", low)
            + " and at most "
            + percent("--high", high));
    require(least >= 1, "--least must be at least 1");
    require(least <= most, "--least " + least + " must be at most --most " + most);
    require(rate >= 0 && downWindowMillis >= 0, "no limit may be negative");
  }

  private static void require(boolean good, String otherwise) {
    if (!good) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  private static String percent(String option, double part) {
    return option + " " + Math.round(100 * part) + " %";
  }

  /** The target without a wish: nearer to high, since unused space costs. */
  static double usualTarget(double high, double low) {
    return high - (high - low) / 4;
  }
}
