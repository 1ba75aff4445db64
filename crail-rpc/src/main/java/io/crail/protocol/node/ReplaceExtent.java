/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Place;

/**
 * Replaces an extent that a writer could not write to, and in which no write was acknowledged. A
 * second request for the same extent gets the same answer. The answer is an {@link Extend.Response}
 * with the extents that hold the bytes of the replaced one.
 */
public final class ReplaceExtent {
  /** Reason: the datanode cannot be reached. For a while it gets no more bytes of this writer. */
  public static final int UNREACHABLE = 0;

  /** Reason: an earlier writer may still write to the space. Nothing is wrong with the datanode. */
  public static final int PINNED = 1;

  /**
   * Reason: the datanode does not answer. As {@link #UNREACHABLE}, but the datanode may only be
   * slow. So its extent is not replaced by space at a datanode that clients could not reach either.
   */
  public static final int SILENT = 2;

  /**
   * Reason: the datanode's file system is full, so it cannot back space that it has announced. For
   * a while it gets no more bytes of this writer.
   */
  public static final int FULL = 3;

  private ReplaceExtent() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease
   * @param fileOffset where the extent begins in the node
   * @param length bytes of the extent
   * @param place its place that could not be written to, as the namenode gave it
   * @param reason why: {@link #UNREACHABLE}, {@link #PINNED}, {@link #SILENT} or {@link #FULL}
   */
  public record Request(long id, long token, long fileOffset, int length, Place place, int reason) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReplaceExtent.Request")
            .i64("id", "node id")
            .i64("token", "the write lease")
            .i64("fileOffset", "where the extent begins in the node")
            .i32("length", "bytes of the extent")
            .struct("place", Place.CODEC, "where it could not be written to")
            .u8("reason", "why: UNREACHABLE, PINNED, SILENT or FULL");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }
}
