/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

/** Bytes of heap that objects and arrays take in HotSpot. Stateless. */
public final class Footprint {
  private static final int ALIGNMENT = 8;
  private static final int OBJECT_HEADER = 12;
  private static final int ARRAY_HEADER = 16;

  /** From this heap on, HotSpot does not compress references. */
  private static final long LARGE_HEAP = 32L << 30;

  /** Bytes of a reference. */
  public static final int REFERENCE =
      Runtime.getRuntime().maxMemory() < LARGE_HEAP ? Integer.BYTES : Long.BYTES;

  /** An entry of a {@code HashMap} with its key, a boxed number, and its slot. */
  public static final long MAP_ENTRY =
      object(3, Integer.BYTES) + object(0, Long.BYTES) + 2L * REFERENCE;

  /** An entry of a {@code ConcurrentSkipListSet} without its key, and its part of the index. */
  public static final long SORTED_ENTRY = object(3, 0) + object(3, 0) / 2;

  private Footprint() {}

  /** An object with these references and so many bytes of other fields. */
  public static long object(int references, int fieldBytes) {
    return aligned(OBJECT_HEADER + (long) references * REFERENCE + fieldBytes);
  }

  /** An array of bytes. */
  public static long bytes(long length) {
    return aligned(ARRAY_HEADER + length);
  }

  /** An array of references. */
  public static long references(long length) {
    return aligned(ARRAY_HEADER + length * REFERENCE);
  }

  private static long aligned(long bytes) {
    return bytes + ALIGNMENT - 1 & -ALIGNMENT;
  }
}
