/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Extent;
import java.util.List;

/** Allocates space for a writer. A second request for the same position gets the same answer. */
public final class Extend {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 64;

  private Extend() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease
   * @param position first byte that needs space; at most the end of the space so far
   * @param wanted bytes that the writer intends to write from there
   * @param size bytes written so far, which become visible as with SetSize; -1 for no change
   */
  public record Request(long id, long token, long position, long wanted, long size) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Extend.Request")
            .i64("id", "node id")
            .i64("token", "the write lease")
            .i64("position", "first byte that needs space; at most the end of the space so far")
            .i64("wanted", "bytes that the writer means to write from there")
            .i64("size", "bytes written so far, made visible as by SetSize; -1 for no change");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param extents the extent that holds the position, and later ones
   */
  public record Response(List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Extend.Response")
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
