/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Place;

/**
 * Puts the copy of an extent in its place, in one step for readers. Refused when a client writes to
 * the node, or when the node, the extent or the number of its bytes is not what it was; the
 * reserved space is then free.
 */
public final class CommitMove {
  private CommitMove() {}

  /**
   * The request. The client has no write to the reserved space in flight, and begins none.
   *
   * @param id node id
   * @param token that of the {@link BeginMove}
   * @param grant names the reserved space
   * @param bytes how many bytes were copied
   * @param fileOffset where the extent begins in the node
   * @param place the place that is replaced
   * @param target the reserved space, which holds the copy
   */
  public record Request(
      long id, long token, long grant, int bytes, long fileOffset, Place place, Place target) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("CommitMove.Request")
            .i64("id", "node id")
            .i64("token", "that of begin-move")
            .i64("grant", "names the reserved space")
            .i32("bytes", "how many bytes were copied")
            .i64("fileOffset", "where the extent begins in the node")
            .struct("place", Place.CODEC, "the place that is replaced")
            .struct("target", Place.CODEC, "the reserved space");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /** The answer. */
  public record Response() {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("CommitMove.Response");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
