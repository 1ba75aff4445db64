/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Charts of figures, as SVG or PNG. Callers describe a chart with plain records. Only {@link
 * io.crail.bench.chart.Chart} and its helpers see the drawing library.
 */
package io.crail.bench.chart;
