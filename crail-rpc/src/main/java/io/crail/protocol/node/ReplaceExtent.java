/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Extent;

/**
 * Gives a writer other space in the place of an extent that it could not write to, and in which
 * nothing was acknowledged. Asked again for the same extent it answers the same. Answered by {@link
 * Extend.Response}: the extents that hold the bytes of the replaced one.
 */
public final class ReplaceExtent {
  /** Reason: the datanode cannot be reached. It gets no more of this writer's bytes for a while. */
  public static final int UNREACHABLE = 0;

  /** Reason: an earlier writer may still write to the space. Nothing is wrong with the datanode. */
  public static final int PINNED = 1;

  /**
   * Reason: the datanode answers nothing. As {@link #UNREACHABLE}, but it may only be slow: space
   * that others could not reach is no better.
   */
  public static final int SILENT = 2;

  private ReplaceExtent() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease
   * @param extent what is to be replaced, as it was given
   * @param reason why: {@link #UNREACHABLE}, {@link #PINNED} or {@link #SILENT}
   */
  public record Request(long id, long token, Extent extent, int reason) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReplaceExtent.Request")
            .i64("id", "node id")
            .i64("token", "the write lease")
            .struct("extent", Extent.CODEC)
            .u8("reason", "why: UNREACHABLE, PINNED or SILENT");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }
}
