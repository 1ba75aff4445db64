/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

/**
 * When entries were agreed on, so that it is known for how long a peer has lacked one. Samples are
 * kept in levels, each of which has an eighth of those of the one before: what is long ago is less
 * exact, and all of it has its memory from the beginning. Thread-safe.
 */
final class EntryTimes {
  private static final int LEVELS = 7;
  private static final int SLOTS = 64;
  private static final int LEVEL_SHIFT = 3;

  private final long[] entries = new long[LEVELS * SLOTS];
  private final long[] nanos = new long[LEVELS * SLOTS];
  private long count;
  private long last;

  /** Forgets all, and begins with an entry. */
  synchronized void begin(long entry, long nowNanos) {
    count = 0;
    add(entry, nowNanos);
  }

  /** Notes that the entries up to this one are agreed on. They never become fewer. */
  synchronized void note(long entry, long nowNanos) {
    if (entry > last) {
      add(entry, nowNanos);
    }
  }

  private void add(long entry, long nowNanos) {
    last = entry;
    for (int level = 0; level < LEVELS; level++) {
      int shift = level * LEVEL_SHIFT;
      if ((count & ((1L << shift) - 1)) == 0) {
        int slot = slot(level, count >> shift);
        entries[slot] = entry;
        nanos[slot] = nowNanos;
      }
    }
    count++;
  }

  private static int slot(int level, long sample) {
    return level * SLOTS + (int) (sample % SLOTS);
  }

  /**
   * When the first entry behind one was agreed on, as far as that is known.
   *
   * @return its time; now if there is none
   */
  synchronized long firstAfter(long entry, long nowNanos) {
    if (entry >= last) {
      return nowNanos;
    }
    for (int level = 0; level < LEVELS; level++) {
      long end = ((count - 1) >> (level * LEVEL_SHIFT)) + 1;
      long oldest = Math.max(0, end - SLOTS);
      if (entries[slot(level, oldest)] <= entry || oldest == 0 || level == LEVELS - 1) {
        long sample = oldest;
        while (sample < end - 1 && entries[slot(level, sample)] <= entry) {
          sample++;
        }
        return nanos[slot(level, sample)];
      }
    }
    throw new AssertionError("no level");
  }
}
