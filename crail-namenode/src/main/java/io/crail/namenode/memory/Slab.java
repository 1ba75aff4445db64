/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

import java.nio.ByteBuffer;

/**
 * A piece of memory, cut into cells of one length. Cells that were given back form a list through
 * their own first bytes. Guarded by the class of lengths that has it.
 */
final class Slab {
  /** The logarithm of its length. */
  static final int LOG_LENGTH = 18;

  /** Bytes. */
  static final int LENGTH = 1 << LOG_LENGTH;

  private static final int NONE = -1;

  private final ByteBuffer bytes;
  private final long address;

  /** Where the first cell of the list is. */
  private int free;

  /** Where the cells begin that were never taken. */
  private int untouched;

  private int taken;
  private int cell;
  private Slab previous;
  private Slab next;

  /**
   * A slab without cells.
   *
   * @param address of its first byte
   */
  Slab(ByteBuffer bytes, long address) {
    this.bytes = bytes;
    this.address = address;
  }

  /** The memory; only absolute access, by any thread. */
  ByteBuffer bytes() {
    return bytes;
  }

  long address() {
    return address;
  }

  /** Begins anew, with cells of a length, of which none is taken. */
  void begin(int newCell) {
    cell = newCell;
    free = NONE;
    untouched = 0;
  }

  /** Bytes of each cell. It stays as long as one is taken. */
  int cell() {
    return cell;
  }

  /** Takes a cell; there has to be a free one. Returns where it begins. */
  int take() {
    taken++;
    int at = free;
    if (at == NONE) {
      at = untouched;
      untouched += cell;
    } else {
      free = bytes.getInt(at);
    }
    return at;
  }

  /** Takes a cell back. */
  void give(int at) {
    taken--;
    bytes.putInt(at, free);
    free = at;
  }

  /** Cells that are taken. */
  int taken() {
    return taken;
  }

  Slab next() {
    return next;
  }

  /** Becomes the first of a list. */
  void link(Slab first) {
    next = first;
    if (first != null) {
      first.previous = this;
    }
  }

  /** Leaves its list. */
  void unlink() {
    if (previous != null) {
      previous.next = next;
    }
    if (next != null) {
      next.previous = previous;
    }
    previous = null;
    next = null;
  }
}
