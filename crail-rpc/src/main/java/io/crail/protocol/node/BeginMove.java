/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Place;

/**
 * Begins to move the bytes of an extent from one place to another datanode: reserves space for a
 * copy, which the client makes. Nothing changes for readers and writers of the node before {@link
 * CommitMove}.
 */
public final class BeginMove {
  /** Any datanode of the same storage class. */
  public static final int ANY_DATANODE = -1;

  private BeginMove() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token chosen by the client; names the reserved space together with the answer's grant
   * @param fileOffset where the extent begins in the node
   * @param place the place to move it from, as the namenode has listed it
   * @param datanode the datanode to move it to, or {@link #ANY_DATANODE}
   */
  public record Request(long id, long token, long fileOffset, Place place, int datanode) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("BeginMove.Request")
            .i64("id", "node id")
            .i64("token", "chosen by the client, for the commit")
            .i64("fileOffset", "where the extent begins in the node")
            .struct("place", Place.CODEC, "where it is")
            .i32("datanode", "datanode to move it to; -1 for any of its class");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer. The client may write to the space for the duration of a lease, counted from the
   * request. It need not give the space back.
   *
   * @param grant names the reserved space
   * @param bytes how many bytes to copy, from the beginning of the extent
   * @param target the reserved space
   */
  public record Response(long grant, int bytes, Place target) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("BeginMove.Response")
            .i64("grant", "names the space, which may be written to until a lease is over")
            .i32("bytes", "how many bytes to copy")
            .struct("target", Place.CODEC, "where to copy them to");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
