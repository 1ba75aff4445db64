/* SPDX-License-Identifier: Apache-2.0 */
/** Figures as text, JSON and charts. */
package io.crail.bench.report;
