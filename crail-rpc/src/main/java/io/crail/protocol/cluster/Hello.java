/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Independent;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.ServerLogin;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The first exchange on a connection. Versions, cluster and limits come from the namenode, so the
 * two sides cannot silently disagree about them. It is also the first exchange of the login; if the
 * namenode wants more messages, {@link Login} carries them.
 */
public final class Hello {
  /** The first bytes of a request: "CRAI" in little-endian order. */
  public static final int MAGIC = 0x49415243;

  /** Role of a client. */
  public static final int ROLE_CLIENT = 0;

  /** Role of a datanode. */
  public static final int ROLE_DATANODE = 1;

  /** Another namenode of the cluster. */
  public static final int ROLE_NAMENODE = 2;

  private Hello() {}

  /** The role of a number; a client's for all numbers without one. */
  public static Principal.Role role(int number) {
    return switch (number) {
      case ROLE_DATANODE -> Principal.Role.DATANODE;
      case ROLE_NAMENODE -> Principal.Role.NAMENODE;
      default -> Principal.Role.CLIENT;
    };
  }

  /**
   * The request.
   *
   * @param magic always Hello.MAGIC
   * @param minVersion lowest protocol version of the client
   * @param maxVersion highest protocol version of the client
   * @param role 0: client, 1: datanode, 2: namenode
   * @param mechanism how the client logs in; 0: it proves nothing
   * @param clientId random number of the client, the owner of its write leases
   * @param peer distinguishes the connections that this client has at a time; a connection that
   *     takes the place of a lost one has the same number
   * @param patienceMillis how long after the loss of a connection the client may send a request
   *     again; an hour at most
   * @param host name of the client's host
   * @param user the owner of the nodes that it creates; empty means the namenode's own user
   * @param message the first message of the login
   */
  public record Request(
      int magic,
      int minVersion,
      int maxVersion,
      int role,
      int mechanism,
      long clientId,
      long peer,
      int patienceMillis,
      Utf8 host,
      Utf8 user,
      SmallValue message) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Hello.Request")
            .i32("magic", "always Hello.MAGIC")
            .u8("minVersion", "lowest protocol version of the client")
            .u8("maxVersion", "highest protocol version of the client")
            .u8("role", "0: client, 1: datanode, 2: namenode")
            .u8("mechanism", "how the client logs in; 0: it proves nothing")
            .i64("clientId", "random number of the client, the owner of its write leases")
            .i64("peer", "the same for a connection and those that replace it")
            .i32("patienceMillis", "how long a request may be sent again after a loss")
            .u16("hostLength", "bytes of host")
            .u16("userLength", "bytes of user")
            .u16("messageLength", "bytes of message")
            .bytes("host", "hostLength", 0, TextLimits.HOST, "name of the client's host")
            .bytes(
                "user",
                "userLength",
                0,
                TextLimits.USER,
                "whom its nodes belong to; empty for the namenode's own user")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the first message of the login");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The request of a client that proves nothing, and sends no request again. */
    public Request(
        int magic, int minVersion, int maxVersion, int role, long clientId, Utf8 host, Utf8 user) {
      this(
          magic,
          minVersion,
          maxVersion,
          role,
          0,
          clientId,
          ThreadLocalRandom.current().nextLong(),
          0,
          host,
          user,
          SmallValue.NONE);
    }
  }

  /**
   * The answer. As long as the namenode wants another message of the login, it describes nothing:
   * then all fields but the first two and the message are 0 or empty.
   *
   * @param version the protocol version of this connection
   * @param more whether the namenode wants another message of the login
   * @param namenodeIndex index of this namenode
   * @param namenodeCount number of namenodes in the cluster
   * @param blockSize bytes of a block, the largest extent
   * @param minExtentSize bytes of the smallest extent
   * @param smallValue most bytes of a value that travels with the metadata; 0 when none does
   * @param smallFiles whether data files may be as small as that, and travel so too
   * @param leaseMillis how long a location or a write lease is valid
   * @param incarnation changes with each start of the namenode that has lost changes, and remembers
   *     no answers from before
   * @param rootId node id of the root at this namenode, which changes if it has lost all
   * @param cluster name of the cluster
   * @param message the namenode's message of the login
   */
  public record Response(
      int version,
      boolean more,
      int namenodeIndex,
      int namenodeCount,
      int blockSize,
      int minExtentSize,
      int smallValue,
      boolean smallFiles,
      int leaseMillis,
      long incarnation,
      long rootId,
      Utf8 cluster,
      SmallValue message)
      implements Independent {
    /** More than the number of node ids that a namenode gives out between two starts. */
    private static final long MANY_IDS = 1L << 40;

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Hello.Response")
            .u8("version", "the protocol version of this connection")
            .u8("more", "1: another message of the login is wanted, and what follows is empty")
            .u16("namenodeIndex", "index of this namenode")
            .u16("namenodeCount", "number of namenodes in the cluster")
            .i32("blockSize", "bytes of a block, the largest extent")
            .i32("minExtentSize", "bytes of the smallest extent")
            .i32("smallValue", "most bytes of a value that travels with the metadata, or 0")
            .u8("smallFiles", "1: so do data files that are no longer")
            .i32("leaseMillis", "how long a location or a write lease is good for")
            .i64("incarnation", "changes with each start that has lost changes")
            .i64("rootId", "node id of the root at this namenode")
            .u16("clusterLength", "bytes of cluster")
            .u16("messageLength", "bytes of message")
            .bytes("cluster", "clusterLength", 0, 255, "name of the cluster")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the namenode's message of the login");

    /** The answer to a login that proves nothing. */
    public Response(
        int version,
        int namenodeIndex,
        int namenodeCount,
        int blockSize,
        int minExtentSize,
        int smallValue,
        boolean smallFiles,
        int leaseMillis,
        long incarnation,
        long rootId,
        Utf8 cluster) {
      this(
          version,
          false,
          namenodeIndex,
          namenodeCount,
          blockSize,
          minExtentSize,
          smallValue,
          smallFiles,
          leaseMillis,
          incarnation,
          rootId,
          cluster,
          SmallValue.NONE);
    }

    /**
     * What stays the same over the starts of a namenode that knows what the earlier ones have
     * known, except perhaps the last changes. What datanodes have of it is good then.
     */
    public long lineage() {
      return rootId;
    }

    /** The answer that wants another message of the login. */
    public static Response challenge(SmallValue message) {
      return new Response(Frame.VERSION, true, 0, 0, 0, 0, 0, false, 0, 0, 0, Utf8.EMPTY, message);
    }

    /** This description, at the end of a login whose last message is another one. */
    public Response with(SmallValue last) {
      return new Response(
          version,
          more,
          namenodeIndex,
          namenodeCount,
          blockSize,
          minExtentSize,
          smallValue,
          smallFiles,
          leaseMillis,
          incarnation,
          rootId,
          cluster,
          last);
    }

    /**
     * False if this namenode cannot have given out the id since it started. Ids go up from the
     * root's id, which is a random one of 2^62 at each start.
     */
    public boolean mayHaveGiven(long nodeId) {
      return Long.compareUnsigned(nodeId - rootId, MANY_IDS * namenodeCount) < 0;
    }

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    @Override
    public boolean isIndependent() {
      // All of it is as at the start.
      return true;
    }
  }
}
