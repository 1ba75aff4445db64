/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.util.List;

/** Asks how the peers of a namenode stand, and may have another one serve. */
public final class Lead {
  /** Instead of a peer: none is to take over. */
  public static final int NONE = -1;

  /** Most peers of a namenode. */
  public static final int MAX_PEERS = 16;

  /** Instead of a number of entries: the peer has not said yet which it has. */
  public static final long UNKNOWN = -1;

  private Lead() {}

  /**
   * The request.
   *
   * @param peer which of the peers is to serve from now on, in the order of {@code
   *     crail.namenode.address}, or {@link #NONE}
   */
  public record Request(int peer) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lead.Request").i32("peer", "which peer is to serve from now on, or -1");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A peer, as the one sees it that serves.
   *
   * @param isReached whether it has answered lately
   * @param isJoining whether it has lost its directories, and does not count until it has
   *     everything again
   * @param behind how many entries of the log that were agreed on it does not have yet, or {@link
   *     #UNKNOWN}
   * @param behindMillis how long ago the first of these was agreed on; 0 if it has all
   * @param silentMillis how long ago it has answered last; 0 for the one that serves
   */
  public record Peer(
      boolean isReached, boolean isJoining, long behind, long behindMillis, long silentMillis) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lead.Peer")
            .u8("isReached", "whether it has answered lately; 0 or 1")
            .u8("isJoining", "whether it lost its directories and does not count yet; 0 or 1")
            .i64("behind", "entries agreed on that it does not have yet, or -1")
            .i64("behindMillis", "how long ago the first of these was agreed on; 0 for none")
            .i64("silentMillis", "how long ago it has answered last");

    /** The codec. */
    public static final Codec<Peer> CODEC = Codec.of(Peer.class, LAYOUT);
  }

  /**
   * The answer. The lead moves after it, and may still stay where it is.
   *
   * @param peer which peer serves now
   * @param term how often a peer was elected, all together
   * @param peers all of them, in the order of {@code crail.namenode.address}
   */
  public record Response(int peer, long term, List<Peer> peers) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lead.Response")
            .i32("peer", "which peer serves now")
            .i64("term", "how often a peer was elected, all together")
            .u16("peersCount", "number of peers")
            .list("peers", "peersCount", Peer.CODEC, MAX_PEERS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
