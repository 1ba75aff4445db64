/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

/**
 * One line of {@link Chart#overTime}.
 *
 * @param name the name in the legend
 * @param seconds when each figure was taken, ascending
 * @param figures the figures
 */
public record TimeLine(String name, double[] seconds, double[] figures) {
  /** Checks that both arrays have the same length. */
  public TimeLine {
    if (seconds.length != figures.length) {
      throw new IllegalArgumentException(
          name + ": " + seconds.length + " times, " + figures.length + " figures");
    }
    seconds = seconds.clone();
    figures = figures.clone();
  }
}
