/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

import java.util.Map;

/**
 * The bars of one colour of {@link Chart#bars}.
 *
 * @param name the name in the legend
 * @param bars the figures by the label below each bar, in the order of the map
 */
public record Bars(String name, Map<String, Spread> bars) {}
