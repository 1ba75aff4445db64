/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Extent;
import java.util.List;

/** Returns where a range of a node is, for schedulers; grants no lease. */
public final class Locations {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 512;

  private Locations() {}

  /**
   * The request.
   *
   * @param id node id
   * @param position first byte
   * @param length bytes
   */
  public record Request(long id, long position, long length) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Locations.Request")
            .i64("id", "node id")
            .i64("position", "first byte")
            .i64("length", "bytes");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param size bytes visible to readers
   * @param extents the extents that hold the range, as many as fit
   */
  public record Response(long size, List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Locations.Response")
            .i64("size", "bytes visible to readers")
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
