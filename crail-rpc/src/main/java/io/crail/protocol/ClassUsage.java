/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;

/**
 * The space of one storage class at one namenode; {@code free + used + waiting = capacity}.
 *
 * @param storageClass the class
 * @param capacityBytes bytes of all its regions
 * @param freeBytes bytes that can be given to a node now
 * @param usedBytes bytes that belong to nodes
 * @param waitingBytes bytes that wait for the end of leases: freed, or given ahead
 * @param largestFreeExtentBytes the largest extent that could be given out now; less than a block
 *     while plenty is free means fragmentation
 */
public record ClassUsage(
    int storageClass,
    long capacityBytes,
    long freeBytes,
    long usedBytes,
    long waitingBytes,
    long largestFreeExtentBytes) {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("ClassUsage")
          .i32("storageClass", "storage class")
          .i64("capacityBytes", "bytes of all its regions")
          .i64("freeBytes", "bytes that can be given out now")
          .i64("usedBytes", "bytes that belong to nodes")
          .i64("waitingBytes", "bytes that wait for the end of leases: freed, or given ahead")
          .i64("largestFreeExtentBytes", "largest extent that could be given out now");

  private static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
  private static final int CAPACITY = LAYOUT.offset("capacityBytes");
  private static final int FREE = LAYOUT.offset("freeBytes");
  private static final int USED = LAYOUT.offset("usedBytes");
  private static final int WAITING = LAYOUT.offset("waitingBytes");
  private static final int LARGEST = LAYOUT.offset("largestFreeExtentBytes");

  /** Writes this. */
  public void encode(ByteBuffer out, int offset) {
    out.putInt(offset + STORAGE_CLASS, storageClass);
    out.putLong(offset + CAPACITY, capacityBytes);
    out.putLong(offset + FREE, freeBytes);
    out.putLong(offset + USED, usedBytes);
    out.putLong(offset + WAITING, waitingBytes);
    out.putLong(offset + LARGEST, largestFreeExtentBytes);
  }

  /** Reads one. */
  public static ClassUsage read(ByteBuffer in, int offset) {
    return new ClassUsage(
        in.getInt(offset + STORAGE_CLASS),
        in.getLong(offset + CAPACITY),
        in.getLong(offset + FREE),
        in.getLong(offset + USED),
        in.getLong(offset + WAITING),
        in.getLong(offset + LARGEST));
  }
}
