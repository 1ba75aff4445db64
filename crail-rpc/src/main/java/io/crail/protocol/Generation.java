/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.util.concurrent.TimeUnit;

/**
 * The encoding of generations: a namenode counts them from the time of its start, in milliseconds
 * since 1970, shifted left by {@value #TIME_SHIFT} bits. It gives out far fewer than 2^{@value
 * #TIME_SHIFT} in a millisecond, so they stay behind the time, and every start begins above all
 * that were given before.
 */
public final class Generation {
  /** Bits below the time. */
  public static final int TIME_SHIFT = 20;

  private static final long SKEW_MILLIS = TimeUnit.DAYS.toMillis(1);

  private Generation() {}

  /**
   * The largest generation that any namenode can have given out, its clock being at most a day
   * ahead. Space that took a larger one would be lost for every later owner.
   *
   * @param nowMillis the time here, since 1970
   */
  public static long latest(long nowMillis) {
    return (nowMillis + SKEW_MILLIS) << TIME_SHIFT;
  }
}
