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

  /** Instead of a number of entries: the peer has not been heard of. */
  public static final long UNKNOWN = -1;

  private static final Codec<Long> BEHIND =
      Codec.ofLong("Lead.Behind", "entries", "entries that the peer does not have yet, or -1");

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
   * The answer. The lead moves after it, and may still stay where it is.
   *
   * @param peer which peer serves now
   * @param joining the peers that have lost their directories, and do not count until they have
   *     everything again; peer 0 is the lowest bit
   * @param term how often a peer was elected, all together
   * @param behind for each peer, how many entries of the log it does not have yet, or {@link
   *     #UNKNOWN}
   */
  public record Response(int peer, int joining, long term, List<Long> behind) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lead.Response")
            .i32("peer", "which peer serves now")
            .i32("joining", "peers that lost their directories and do not count yet, as bits")
            .i64("term", "how often a peer was elected, all together")
            .u16("behindCount", "number of peers")
            .list("behind", "behindCount", BEHIND, MAX_PEERS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
