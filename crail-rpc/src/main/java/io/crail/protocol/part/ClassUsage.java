/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * The space of one storage class at one namenode; {@code free + used + waiting = capacity}. What is
 * lost is a part of none of these.
 *
 * @param storageClass the class
 * @param capacityBytes bytes of all its regions
 * @param freeBytes free bytes that a node can get now
 * @param usedBytes bytes that belong to nodes
 * @param waitingBytes bytes that wait for the end of leases: freed, or reserved for copies
 * @param lostBytes bytes that belong to nodes and lie at datanodes that are gone
 * @param largestFreeExtentBytes the largest extent that could be allocated now; when it is smaller
 *     than a block although much is free, the space is fragmented
 */
public record ClassUsage(
    int storageClass,
    long capacityBytes,
    long freeBytes,
    long usedBytes,
    long waitingBytes,
    long lostBytes,
    long largestFreeExtentBytes) {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("ClassUsage")
          .i32("storageClass", "storage class")
          .i64("capacityBytes", "bytes of all its regions")
          .i64("freeBytes", "bytes that can be given out now")
          .i64("usedBytes", "bytes that belong to nodes")
          .i64("waitingBytes", "bytes that wait for the end of leases: freed, or reserved")
          .i64("lostBytes", "bytes of nodes at datanodes that are gone")
          .i64("largestFreeExtentBytes", "largest extent that could be given out now");

  /** The codec. */
  public static final Codec<ClassUsage> CODEC = Codec.of(ClassUsage.class, LAYOUT);

  /** The space of the same class at two namenodes together. */
  public ClassUsage plus(ClassUsage other) {
    return new ClassUsage(
        storageClass,
        capacityBytes + other.capacityBytes,
        freeBytes + other.freeBytes,
        usedBytes + other.usedBytes,
        waitingBytes + other.waitingBytes,
        lostBytes + other.lostBytes,
        Math.max(largestFreeExtentBytes, other.largestFreeExtentBytes));
  }
}
