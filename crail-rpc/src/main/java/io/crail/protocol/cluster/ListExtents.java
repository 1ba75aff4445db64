/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Place;
import java.util.List;

/** Lists the extents of nodes that lie at a datanode, a page at a time. */
public final class ListExtents {
  /** All datanodes. */
  public static final int ANY_DATANODE = -1;

  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1024;

  private ListExtents() {}

  /**
   * The request.
   *
   * @param datanode datanode id, or {@link #ANY_DATANODE}
   * @param cursor 0 for the first page, later the cursor from the page before
   * @param id the node in which the page before has stopped; 0 when it stopped between nodes
   * @param extent the number of extents of that node that were looked at
   */
  public record Request(int datanode, long cursor, long id, int extent) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListExtents.Request")
            .i32("datanode", "datanode id; -1 for all")
            .i64("cursor", "0 for the first page, then what the last page gave")
            .i64("id", "the node in which the last page stopped; 0 when it stopped between nodes")
            .i32("extent", "the number of extents of that node that were looked at");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * An extent of a node at one of its places.
   *
   * @param id the node
   * @param fileOffset where the extent begins in the node
   * @param length bytes of the extent, with the space that no byte is written to yet
   * @param place the place
   * @param allocatedLength bytes of its space, which is longer than the extent after a seal
   */
  public record Placed(long id, long fileOffset, int length, Place place, int allocatedLength) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListExtents.Placed")
            .i64("id", "node id")
            .i64("fileOffset", "where the extent begins in the node")
            .i32("length", "bytes of the extent")
            .struct("place", Place.CODEC)
            .i32("allocatedLength", "bytes of its space");

    /** The codec. */
    public static final Codec<Placed> CODEC = Codec.of(Placed.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param next cursor of the next page, or -1
   * @param id for the next page
   * @param extent for the next page
   * @param extents what was found
   */
  public record Response(long next, long id, int extent, List<Placed> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListExtents.Response")
            .i64("next", "cursor of the next page, or -1")
            .i64("id", "for the next page")
            .i32("extent", "for the next page")
            .u16("extentsCount", "number of extents")
            .list("extents", "extentsCount", Placed.CODEC, MAX_EXTENTS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
