/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs Crail, other programs and the bare limits alternately on one machine and writes a table of
 * medians and ratios. It starts processes and reads what they print; it measures nothing itself.
 */
package io.crail.lab;
