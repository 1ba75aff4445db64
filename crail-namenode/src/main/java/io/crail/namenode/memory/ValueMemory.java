/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

import java.nio.ByteBuffer;

/**
 * Memory outside the heap for values of 1 byte to 64 KiB. It is cut into slabs, and a slab into
 * cells of one {@link SizeClass}. A slab without a taken cell serves any class again. The memory
 * grows as it is needed, and is kept until this is collected: a cell is written to again, but its
 * memory never goes. So a reader may read a cell that was given back, and has to check afterwards
 * whether that has happened. Thread-safe, with a lock for each class.
 */
public final class ValueMemory {
  /** The address of no cell. */
  public static final long NONE = SizeClass.NONE;

  /** This part, 1/RESERVE_PART, is there besides for values that replace others. */
  private static final int RESERVE_PART = 16;

  /** A slab for each class, which need not be full. */
  private static final long SLACK = (long) SizeClass.COUNT << Slab.LOG_LENGTH;

  private static final int[] SHARES = new int[SizeClass.COUNT];

  static {
    for (int i = 0; i < SHARES.length; i++) {
      SHARES[i] = new SizeClass(i).share();
    }
  }

  private final SizeClass[] classes = new SizeClass[SizeClass.COUNT];
  private final Slabs slabs;

  /**
   * Creates it; nothing is allocated yet.
   *
   * @param capacity bytes of all cells that are to be taken at once; there is room for them unless
   *     many slabs have only a few cells left of those that they had
   */
  public ValueMemory(long capacity) {
    this.slabs = new Slabs(mostBytes(capacity));
    for (int i = 0; i < classes.length; i++) {
      classes[i] = new SizeClass(i);
    }
  }

  /** Most bytes that are ever allocated for a capacity. */
  public static long mostBytes(long capacity) {
    return capacity + capacity / RESERVE_PART + SLACK;
  }

  /** Bytes of memory that a value of {@code length} bytes takes. */
  public static int footprint(int length) {
    return SHARES[SizeClass.indexOf(length)];
  }

  /**
   * Takes a cell, whose bytes are undefined.
   *
   * @return its address, or {@link #NONE}
   */
  public long take(int length) {
    return classes[SizeClass.indexOf(length)].take(slabs);
  }

  /** Takes a cell back. */
  public void give(long address) {
    classes[SizeClass.indexOf(capacity(address))].give(slabs, address);
  }

  /** Bytes of a cell that is taken. */
  public int capacity(long address) {
    return slabs.at(address).cell();
  }

  /** Writes to a part of a cell that only the caller knows yet. */
  public void write(long address, ByteBuffer in, int at, int length) {
    slabs.at(address).bytes().put((int) address & Slab.LENGTH - 1, in, at, length);
  }

  /** Reads from a part of a cell. If it was given back meanwhile, what is read means nothing. */
  public void read(long address, ByteBuffer out, int at, int length) {
    out.put(at, slabs.at(address).bytes(), (int) address & Slab.LENGTH - 1, length);
  }

  /** Bytes of memory that were allocated, whether they are used or not. */
  public long bytes() {
    return slabs.bytes();
  }
}
