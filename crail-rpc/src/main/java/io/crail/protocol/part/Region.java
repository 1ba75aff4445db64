/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * A run of memory or flash that a datanode lends to one namenode.
 *
 * @param index the datanode's number for the region, from 0
 * @param length bytes
 * @param address what its tier needs to find it: a virtual address, a byte offset, or 0
 * @param key what its tier needs to access it: a remote key, a namespace id, or 0
 */
public record Region(int index, long length, long address, long key) {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Region")
          .i32("index", "the datanode's number for the region")
          .i64("length", "bytes")
          .i64("address", "address for the tier, or 0")
          .i64("key", "access key for the tier, or 0");

  /** Whether two regions of a datanode are the same memory in part, which needs an address. */
  public boolean overlaps(Region other) {
    return address != 0
        && other.address != 0
        && key == other.key
        && address < other.address + other.length
        && other.address < address + length;
  }

  /** The codec. */
  public static final Codec<Region> CODEC = Codec.of(Region.class, LAYOUT);
}
