/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs Crail, other programs and the bare limits alternately on one machine, and writes tables of
 * medians and ratios. It starts processes and reads their output. It measures nothing itself.
 */
package io.crail.lab;
