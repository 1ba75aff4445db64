/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

/**
 * The cells of one length, and the slabs that are cut into them. Four lengths lie between a power
 * of two and the next, so at most a fifth of a cell is unused, and less than 16 bytes of a short
 * one. Thread-safe: the monitor guards its slabs.
 */
final class SizeClass {
  /** The address of no cell. */
  static final long NONE = -1;

  /** The longest value. */
  static final int MAX_LENGTH = 64 << 10;

  private static final int STEP = 16;

  /** Up to this length, cells are a multiple of {@link #STEP}. */
  private static final int LONGEST_OF_STEPS = 4 * STEP;

  private static final int LOG_OF_LONGEST = 6;

  /** The number of classes. */
  static final int COUNT = indexOf(MAX_LENGTH) + 1;

  private final int cell;
  private final int cells;

  /** The slabs that have a free cell. */
  private Slab open;

  SizeClass(int index) {
    this.cell = cellOf(index);
    this.cells = Slab.LENGTH / cell;
  }

  /** The class of values of a length, which is above 0. */
  static int indexOf(int length) {
    if (length <= LONGEST_OF_STEPS) {
      return (length - 1) / STEP;
    }
    int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length - 1);
    return 4 * (log - LOG_OF_LONGEST + 1) + ((length - 1) >>> (log - 2)) - 4;
  }

  private static int cellOf(int index) {
    int power = index / 4;
    int step = power == 0 ? STEP : STEP << (power - 1);
    return (power == 0 ? 0 : LONGEST_OF_STEPS << (power - 1)) + (index % 4 + 1) * step;
  }

  /** Bytes of a cell. */
  int cell() {
    return cell;
  }

  /** Bytes of memory that a cell takes: its share of a slab. */
  int share() {
    return Slab.LENGTH / cells;
  }

  /**
   * Takes a cell.
   *
   * @return its address, or {@link #NONE} when no slab is free
   */
  synchronized long take(Slabs slabs) {
    if (open == null) {
      open = slabs.take();
      if (open == null) {
        return NONE;
      }
      open.begin(cell);
    }
    Slab slab = open;
    int at = slab.take();
    if (slab.taken() == cells) {
      remove(slab);
    }
    return slab.address() + at;
  }

  /** Takes a cell back. */
  synchronized void give(Slabs slabs, long address) {
    Slab slab = slabs.at(address);
    boolean wasFull = slab.taken() == cells;
    slab.give((int) (address - slab.address()));
    if (slab.taken() == 0) {
      if (!wasFull) {
        remove(slab);
      }
      slabs.give(slab);
    } else if (wasFull) {
      slab.link(open);
      open = slab;
    }
  }

  private void remove(Slab slab) {
    if (slab == open) {
      open = slab.next();
    }
    slab.unlink();
  }
}
