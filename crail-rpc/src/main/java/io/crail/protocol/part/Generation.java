/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

/**
 * The numbers of the successive owners of a piece of space. They only grow within a region,
 * beginning with 0 for a new region, no matter which namenode gives out the space. The numbers of
 * two regions are independent. They do not depend on a clock.
 *
 * <p>A region may be lent again, to a namenode that does not know what an earlier namenode gave
 * out. Then the datanode raises all generations of the region to {@link #GAP} above the highest
 * that it finds there, and the namenode continues from that number. So no earlier number passes a
 * check any more, not even one that was given out but not written yet.
 */
public final class Generation {
  /**
   * The largest generation. With a million allocations a second in one region it is reached after a
   * thousand years, and with a namenode that also restarts every minute after thirty. Space with a
   * larger number would be lost for every later owner.
   */
  public static final long MAX = 1L << 56;

  /**
   * More than the number of generations that a namenode gives out in one region before any byte is
   * written there.
   */
  public static final long GAP = 1L << 32;

  private Generation() {}
}
