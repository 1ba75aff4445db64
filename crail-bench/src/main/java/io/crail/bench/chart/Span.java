/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.chart;

/**
 * What went on below the lines of {@link Chart#overTime}.
 *
 * @param name the label beside it
 * @param begin seconds on the chart's axis
 * @param end seconds on the chart's axis
 */
public record Span(String name, double begin, double end) {}
