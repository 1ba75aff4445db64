/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import java.util.List;

/** Finds where a node's bytes lie, from a position on. */
public final class FindExtents {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 64;

  private FindExtents() {}

  /**
   * The request.
   *
   * @param id node id
   * @param position first byte
   * @param maxExtents most extents in the answer
   */
  public record Request(long id, long position, int maxExtents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("FindExtents.Request")
            .i64("id", "node id")
            .i64("position", "first byte")
            .u16("maxExtents", "most extents in the answer");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param size bytes visible to readers
   * @param extents the extent that holds the position, and later ones; none when nothing is
   *     allocated there
   * @param value all bytes of a small value, which has no extents; empty when no extents were asked
   *     for
   */
  public record Response(long size, List<Extent> extents, SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("FindExtents.Response")
            .i64("size", "bytes visible to readers")
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .i32("valueLength", "bytes of value")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS)
            .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, SmallValue.MEANING);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
