/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * One line of {@link Chart#overSize}.
 *
 * @param name what the legend calls it
 * @param points the figures, by bytes of an operation
 */
public record Line(String name, Map<Long, Spread> points) {
  /** Takes the points in the order of their sizes. */
  public Line {
    points = Collections.unmodifiableMap(new TreeMap<>(points));
  }
}
