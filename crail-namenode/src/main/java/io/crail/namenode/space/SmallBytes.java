/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

/**
 * A small value, whose bytes the namenode itself holds: a space without extents. The bytes never
 * change; a value that grows gets another object.
 */
public class SmallBytes extends NodeSpace {
  /** The heap that a value takes besides its bytes: this object, and the header of its array. */
  private static final int OVERHEAD = 40;

  private final byte[] bytes;

  /** The bytes of an array, which becomes part of this. */
  public SmallBytes(byte[] bytes) {
    this.bytes = bytes;
    commit(bytes.length);
  }

  /** The bytes of heap that a value of {@code length} bytes takes. */
  public static long footprint(int length) {
    return OVERHEAD + (length + 7L & -8L);
  }

  @Override
  public final byte[] small() {
    return bytes;
  }

  @Override
  public int count() {
    return 0;
  }

  @Override
  public Allocation at(int index) {
    throw new AssertionError("a small value has no extent " + index);
  }
}
