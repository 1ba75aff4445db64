/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Charts of what was measured, as SVG or PNG. What is drawn is said with plain records; the library
 * that draws stays behind {@link io.crail.bench.chart.Chart}.
 */
package io.crail.bench.chart;
