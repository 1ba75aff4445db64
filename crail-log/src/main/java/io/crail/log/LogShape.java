/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/**
 * Which attribute of which key-value holds a position. Positions go to the keys of a stripe in
 * turn; when all slots of a stripe are used, the next stripe begins. Immutable.
 *
 * @param width keys of a stripe
 * @param slots positions of a key
 * @param maxEntry most bytes of an entry
 */
record LogShape(int width, int slots, int maxEntry) {
  /** Bytes of all attributes of a node. */
  private static final int MOST_BYTES = 64 << 10;

  /** Each change of a node copies the list of its attributes, so it is kept short. */
  private static final int MOST_SLOTS = 64;

  /** Bytes of a slot beside those of the entry: lengths, a name of two digits, the epoch. */
  private static final int BESIDE = 6 + 2 + Long.BYTES;

  /** As many slots as fit into a key when all entries have the greatest length. */
  static LogShape of(int width, int maxEntry) {
    return new LogShape(width, Math.min(MOST_SLOTS, MOST_BYTES / (BESIDE + maxEntry)), maxEntry);
  }

  private long positionsOfStripe() {
    return (long) width * slots;
  }

  /** The stripe of a position. */
  long stripe(long position) {
    return position / positionsOfStripe();
  }

  /** The key of a position. */
  String key(long position) {
    return key(stripe(position), (int) (position % positionsOfStripe() % width));
  }

  /** A key of a stripe. */
  static String key(long stripe, int column) {
    return "entries-" + stripe + "-" + column;
  }

  /** The attribute of a position. */
  String slot(long position) {
    return Long.toString(position % positionsOfStripe() / width);
  }

  /** The position of an attribute. */
  long position(long stripe, int column, String slot) {
    return stripe * positionsOfStripe() + Long.parseLong(slot) * width + column;
  }
}
