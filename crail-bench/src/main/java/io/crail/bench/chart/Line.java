/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * One line of {@link Chart#overSize} or {@link Chart#overLoad}.
 *
 * @param name the name in the legend
 * @param points the figures by the size of an operation in bytes, or by operations a second
 */
public record Line(String name, Map<Long, Spread> points) {
  /** Sorts the points. */
  public Line {
    points = Collections.unmodifiableMap(new TreeMap<>(points));
  }
}
