/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Namenodes with standbys. The peers of a namenode keep one log by consensus (Ongaro and
 * Ousterhout, <i>In Search of an Understandable Consensus Algorithm</i>, 2014), for which they use
 * Apache Ratis. One of them leads: it serves, and its changes are entries of the log. The others
 * make the same changes, so one of them can take its place at once.
 */
package io.crail.namenode.ha;
