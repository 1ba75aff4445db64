/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

/**
 * The numbers of the owners that a piece of space has one after the other. They grow within a
 * region, from 0 for a new one, whoever gives the region's space away; the numbers of two regions
 * have nothing to do with each other. No clock is asked.
 *
 * <p>When a region is lent anew, to a namenode that knows nothing of what the one before gave away,
 * the datanode raises all its generations by {@link #GAP} above the highest that it finds there,
 * and the namenode goes on from that fence. So no number from before passes a check any more, also
 * none that was given out and not written yet.
 */
public final class Generation {
  /**
   * The largest: at a million a second out of one region it takes a thousand years to come there,
   * and with a namenode that restarts every minute thirty. Space that took a larger one would be
   * lost for every later owner.
   */
  public static final long MAX = 1L << 56;

  /** More than anybody gives out of one region without a single byte being written there. */
  public static final long GAP = 1L << 32;

  private Generation() {}
}
