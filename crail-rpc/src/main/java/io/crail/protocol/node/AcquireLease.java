/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.util.List;

/** Takes the write lease of a node that has no writer, in order to append. */
public final class AcquireLease {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1;

  private AcquireLease() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease to take, not 0; taking it again is no error
   */
  public record Request(long id, long token) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AcquireLease.Request")
            .i64("id", "node id")
            .i64("token", "not 0: the write lease to take; taking it again is no error");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param node the node
   * @param extents the extent that holds its end, if there is one
   * @param value all bytes of a small value
   */
  public record Response(NodeInfo node, List<Extent> extents, SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AcquireLease.Response")
            .struct("node", NodeInfo.CODEC)
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .i32("valueLength", "bytes of value")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS)
            .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, SmallValue.MEANING);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
