/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.quota;

import java.util.Arrays;

/**
 * How a limit of a spread directory is divided over the namenodes: each of the others has a slice,
 * which its share never exceeds, and the owner of the directory has the rest.
 *
 * <p>For each of the others there is a bound that its slice cannot be above, whatever messages are
 * lost or late. It grows before a larger slice is offered, by what is neither used here nor lent,
 * and falls when the other one has said which slice it has: an earlier, larger one has no effect
 * there any more. So use is never above the limit. Used under the lock of the {@link Quota}.
 */
final class Slices {
  /** No limit, and a bound that is not known. */
  private static final long UNLIMITED = -1;

  private final int index;
  private final long step;
  private final long[] bounds;
  private final long[] used;
  private final boolean[] isCounted;

  /** Whether a namenode has refused something lately, and so needs more. */
  private final boolean[] isShort;

  /** For how many more offers that is true of this namenode. */
  private int shortOffers;

  /**
   * Nothing is known of the others yet, so they may use all.
   *
   * @param count number of namenodes
   * @param index this one
   * @param step what slices are multiples of, where nothing is used
   */
  Slices(int count, int index, long step) {
    this.index = index;
    this.step = step;
    this.bounds = new long[count];
    this.used = new long[count];
    this.isCounted = new boolean[count];
    this.isShort = new boolean[count];
    Arrays.fill(bounds, UNLIMITED);
    bounds[index] = 0;
    isCounted[index] = true;
  }

  /** What the others use, as far as is known. */
  long elsewhere() {
    return Arrays.stream(used).sum();
  }

  /** What this namenode may use of a limit. */
  long rest(long limit) {
    return limit < 0 ? UNLIMITED : Math.max(0, spare(limit, 0));
  }

  /** What is neither used here nor may be used elsewhere; below 0 where that is too much. */
  private long spare(long limit, long own) {
    long spare = limit - own;
    for (long bound : bounds) {
      if (bound < 0) {
        return -1;
      }
      spare -= bound;
    }
    return spare;
  }

  /** True when all namenodes count what is below the directory. */
  boolean areCounted() {
    for (boolean each : isCounted) {
      if (!each) {
        return false;
      }
    }
    return true;
  }

  /** Notes that this namenode has refused something. */
  void refused() {
    shortOffers = bounds.length;
  }

  /**
   * The slice that another namenode is offered. What is more than before is its own from now on.
   * Half of what is free is divided evenly, and the other half between those that are short of it;
   * where none is, all is divided evenly.
   *
   * @param own what this namenode uses
   */
  long offer(int namenode, long limit, long own) {
    isShort[index] = shortOffers > 0;
    shortOffers = Math.max(0, shortOffers - 1);
    if (limit < 0) {
      bounds[namenode] = UNLIMITED;
      return UNLIMITED;
    }
    long spare = spare(limit, own);
    if (spare < 0) {
      // The limit is new, or lower. What the others really use is their slice at first.
      return 0;
    }
    int shorts = 0;
    for (boolean each : isShort) {
      shorts += each ? 1 : 0;
    }
    long free = Math.max(0, limit - own - elsewhere());
    long part = (shorts == 0 ? free : free / 2) / bounds.length / step * step;
    if (isShort[namenode]) {
      part += (free - part * bounds.length) / shorts / step * step;
    }
    long slice = used[namenode] + part;
    long bound = bounds[namenode];
    if (slice > bound) {
      slice = bound + Math.min(slice - bound, spare);
      bounds[namenode] = slice;
    }
    return slice;
  }

  /**
   * What another namenode has answered to the last offer.
   *
   * @param use what it uses
   * @param slice what it may use now
   * @param hasRefused whether it has refused something
   * @param counts whether it counts
   */
  void answered(int namenode, long use, long slice, boolean hasRefused, boolean counts) {
    used[namenode] = use;
    bounds[namenode] = slice;
    isShort[namenode] = hasRefused;
    isCounted[namenode] = counts;
  }
}
