/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.LoginKey;
import java.util.List;

/**
 * One peer of a namenode asks another one, which serves or not, what it has. The one that serves
 * takes in a peer which asks and has lost its directory.
 */
public final class AskPeer {
  /** It has never agreed on anything. */
  public static final int NOTHING = 0;

  /** It has agreed on something, or may have. */
  public static final int SOMETHING = 1;

  /** It serves, and the one that asks still counts as what it was, and must wait. */
  public static final int WAIT = 2;

  /** It serves, and the one that asks does not count any more; it is taken in if it is ready. */
  public static final int APART = 3;

  /** It serves, and the one that asks counts. */
  public static final int MEMBER = 4;

  /** It has never agreed on anything, and has the records of a namenode that had no standbys. */
  public static final int LONE = 5;

  private static final Codec<Long> NUMBER =
      Codec.ofLong("AskPeer.Number", "number", "what tells the directory of a peer from others");

  private AskPeer() {}

  /**
   * The request.
   *
   * @param peer which of the peers asks, in the order of {@code crail.namenode.address}
   * @param ready whether it can be taken in now
   * @param number what tells its directory from others
   * @param group which namenode of which cluster it is a peer of
   * @param seconds when it asks, since 1970
   * @param proof that a namenode asks; empty where there are no secrets
   */
  public record Request(
      int peer, boolean ready, long number, long group, long seconds, SmallValue proof) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AskPeer.Request")
            .i32("peer", "which of the peers asks")
            .u8("ready", "whether it can be taken in now; 0 or 1")
            .i64("number", "what tells its directory from others")
            .i64("group", "which namenode of which cluster it is a peer of")
            .i64("seconds", "when it asks, since 1970")
            .u16("proofLength", "bytes of proof")
            .bytes(
                "proof",
                "proofLength",
                0,
                LoginKey.LENGTH,
                "the MAC of \"crail peer 1\" and the fields before, in big-endian order, by the key"
                    + " of a namenode; empty without a secret");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param peer which of the peers answers
   * @param state {@link #NOTHING}, {@link #SOMETHING}, {@link #WAIT}, {@link #APART}, {@link
   *     #MEMBER} or {@link #LONE}
   * @param number what tells its directory from others
   * @param begun the numbers of all peers with which it has begun; empty if it has not, or was
   *     taken in later
   */
  public record Response(int peer, int state, long number, List<Long> begun) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AskPeer.Response")
            .i32("peer", "which of the peers answers")
            .u8(
                "state",
                "0: it has nothing; 1: it has something; 2 to 4: it serves, and the one that asks"
                    + " must wait (2), is taken in when it is ready (3), or counts (4); 5: it has the"
                    + " records of a namenode without standbys")
            .i64("number", "what tells its directory from others")
            .u16("begunCount", "number of peers with which it has begun")
            .list("begun", "begunCount", NUMBER, Lead.MAX_PEERS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
