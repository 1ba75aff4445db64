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
  /**
   * A namenode that has refused something counts as short for so many answers after it: for some
   * seconds, so that whoever was refused there finds room when it tries again.
   */
  static final int SHORT_ANSWERS = 16;

  /** No limit, and a bound that is not known. */
  private static final long UNLIMITED = -1;

  private final int index;
  private final long step;
  private final long[] bounds;
  private final long[] used;
  private final boolean[] isCounted;

  /** Whether a namenode has no share of the directory. */
  private final boolean[] isMissing;

  /**
   * For how many more answers a namenode is short, and so gets more; for this one, for how many
   * more offers.
   */
  private final int[] shortFor;

  private long offers;

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
    this.isMissing = new boolean[count];
    this.shortFor = new int[count];
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

  /** True when all that is below the directory is counted. */
  boolean areCounted() {
    for (boolean each : isCounted) {
      if (!each) {
        return false;
      }
    }
    return true;
  }

  /** True when a namenode has no share of the directory. */
  boolean lackShare() {
    for (boolean each : isMissing) {
      if (each) {
        return true;
      }
    }
    return false;
  }

  /** Notes that this namenode has refused something. */
  void refused() {
    shortFor[index] = offersIn(SHORT_ANSWERS);
  }

  /** The offers in which each of the others answers so often. */
  private int offersIn(int answers) {
    return answers * (bounds.length - 1);
  }

  /**
   * The slice that another namenode is offered. What is more than before is its own from now on.
   * Half of what is free is divided evenly, and the other half between those that are short of it,
   * of which one has what does not divide; where none is short, all is divided evenly.
   *
   * @param own what this namenode uses
   */
  long offer(int namenode, long limit, long own) {
    shortFor[index] = Math.max(0, shortFor[index] - 1);
    offers++;
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
    int before = 0;
    for (int i = 0; i < shortFor.length; i++) {
      shorts += shortFor[i] > 0 ? 1 : 0;
      before += i < namenode && shortFor[i] > 0 ? 1 : 0;
    }
    long free = Math.max(0, limit - own - elsewhere());
    long part = (shorts == 0 ? free : free / 2) / bounds.length / step * step;
    if (shortFor[namenode] > 0) {
      long left = free - part * bounds.length;
      long each = left / shorts / step * step;
      // They take turns, which are long enough to be met by whoever tries again.
      boolean hasTurn = before == offers / offersIn(SHORT_ANSWERS) % shorts;
      part += hasTurn ? (left - each * (shorts - 1)) / step * step : each;
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
    shortFor[namenode] = hasRefused ? SHORT_ANSWERS : Math.max(0, shortFor[namenode] - 1);
    isCounted[namenode] = counts;
    isMissing[namenode] = false;
  }

  /** Another namenode has answered that it has no share: so it has nothing that is not counted. */
  void missing(int namenode) {
    answered(namenode, 0, 0, false, true);
    isMissing[namenode] = true;
  }
}
