/* SPDX-License-Identifier: Apache-2.0 */
/** Samples of several runs, medians, goals, tables. */
package io.crail.lab.figures;
