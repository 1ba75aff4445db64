/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodePath;
import java.util.List;

/**
 * Lists the spread directories that a namenode owns, and its shares of those that others own, a
 * page at a time.
 */
public final class ListShares {
  /** Most bytes of shares in an answer. */
  public static final int MAX_LENGTH = 60_000;

  private ListShares() {}

  /**
   * The request.
   *
   * @param first the lowest id of the page, in the order of unsigned numbers
   */
  public record Request(long first) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListShares.Request").i64("first", "the lowest id of the page, unsigned");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A spread directory, or a share of it.
   *
   * @param owner index of the namenode that owns the directory
   * @param id the id of the directory
   * @param incarnation the owner's start
   * @param version number of its state
   * @param path its path; empty while the directory comes or goes
   */
  public record Share(int owner, long id, long incarnation, long version, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListShares.Share")
            .u16("owner", "index of the namenode that owns the directory")
            .i64("id", "the id of the directory")
            .i64("incarnation", "the owner's start")
            .i64("version", "number of its state")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 0, NodePath.MAX_LENGTH, "its path; may be empty");

    /** The codec. */
    public static final Codec<Share> CODEC = Codec.of(Share.class, LAYOUT);

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + path.length();
    }
  }

  /**
   * The answer.
   *
   * @param next the lowest id of the next page, or -1
   * @param shares in the order of their ids
   */
  public record Response(long next, List<Share> shares) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListShares.Response")
            .i64("next", "the lowest id of the next page, or -1")
            .u16("shareCount", "number of shares")
            .u16("sharesLength", "bytes of shares")
            .page("shares", "shareCount", "sharesLength", Share.CODEC, MAX_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
