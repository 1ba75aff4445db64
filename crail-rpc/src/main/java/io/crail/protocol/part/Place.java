/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * Where the bytes of an extent are at one datanode. Two places of the same space are equal only if
 * it has not been given to another node in between.
 *
 * @param datanode the datanode's id
 * @param region the region's index at that datanode
 * @param offset where the space begins in its region, in bytes
 * @param generation changes whenever the space is given to another node; a tier that checks it
 *     refuses stale requests
 */
public record Place(int datanode, int region, long offset, long generation) {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Place")
          .i32("datanode", "datanode id")
          .i32("region", "index of the region at the datanode")
          .i64("offset", "position in the region")
          .i64("generation", "generation of the space");

  /** The codec. It is written by hand because lookups use it. */
  public static final Codec<Place> CODEC =
      new Codec<>(Place.class, LAYOUT) {
        @Override
        public void encode(Place message, ByteBuffer out, int offset) {
          Place.encode(
              out, offset, message.datanode, message.region, message.offset, message.generation);
        }

        @Override
        public Place read(ByteBuffer in, int offset) {
          return new Place(
              in.getInt(offset + DATANODE),
              in.getInt(offset + REGION),
              in.getLong(offset + OFFSET),
              in.getLong(offset + GENERATION));
        }
      };

  static final int DATANODE = LAYOUT.offset("datanode");
  static final int REGION = LAYOUT.offset("region");
  static final int OFFSET = LAYOUT.offset("offset");
  static final int GENERATION = LAYOUT.offset("generation");

  /** Writes the fields of a place without making a record of them. */
  public static void encode(
      ByteBuffer out, int at, int datanode, int region, long offset, long generation) {
    out.putInt(at + DATANODE, datanode);
    out.putInt(at + REGION, region);
    out.putLong(at + OFFSET, offset);
    out.putLong(at + GENERATION, generation);
  }
}
