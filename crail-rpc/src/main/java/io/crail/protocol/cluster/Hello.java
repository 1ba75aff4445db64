/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;

/**
 * The first exchange on a connection. Versions, cluster and limits come from the namenode, so the
 * two sides cannot silently disagree about them.
 */
public final class Hello {
  /** The first bytes of a request: "CRAI" in little-endian order. */
  public static final int MAGIC = 0x49415243;

  /** Role of a client. */
  public static final int ROLE_CLIENT = 0;

  /** Role of a datanode. */
  public static final int ROLE_DATANODE = 1;

  private Hello() {}

  /**
   * The request.
   *
   * @param magic always Hello.MAGIC
   * @param minVersion lowest protocol version of the client
   * @param maxVersion highest protocol version of the client
   * @param role 0: client, 1: datanode
   * @param clientId random number of the client, the owner of its write leases
   * @param host name of the client's host
   * @param user the owner of the nodes that it creates; empty means the namenode's own user
   */
  public record Request(
      int magic, int minVersion, int maxVersion, int role, long clientId, Utf8 host, Utf8 user) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Hello.Request")
            .i32("magic", "always Hello.MAGIC")
            .u8("minVersion", "lowest protocol version of the client")
            .u8("maxVersion", "highest protocol version of the client")
            .u8("role", "0: client, 1: datanode")
            .i64("clientId", "random number of the client, the owner of its write leases")
            .u16("hostLength", "bytes of host")
            .u16("userLength", "bytes of user")
            .bytes("host", "hostLength", 0, TextLimits.HOST, "name of the client's host")
            .bytes(
                "user",
                "userLength",
                0,
                TextLimits.USER,
                "whom its nodes belong to; empty for the namenode's own user");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param version the protocol version of this connection
   * @param namenodeIndex index of this namenode
   * @param namenodeCount number of namenodes in the cluster
   * @param blockSize bytes of a block, the largest extent
   * @param minExtentSize bytes of the smallest extent
   * @param smallValue most bytes of a value that travels with the metadata; 0 when none does
   * @param leaseMillis how long a location or a write lease is valid
   * @param incarnation changes with each start of the namenode
   * @param rootId node id of the root at this namenode
   * @param cluster name of the cluster
   */
  public record Response(
      int version,
      int namenodeIndex,
      int namenodeCount,
      int blockSize,
      int minExtentSize,
      int smallValue,
      int leaseMillis,
      long incarnation,
      long rootId,
      Utf8 cluster) {
    /** More than the number of node ids that a namenode gives out between two starts. */
    private static final long MANY_IDS = 1L << 40;

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Hello.Response")
            .u8("version", "the protocol version of this connection")
            .u16("namenodeIndex", "index of this namenode")
            .u16("namenodeCount", "number of namenodes in the cluster")
            .i32("blockSize", "bytes of a block, the largest extent")
            .i32("minExtentSize", "bytes of the smallest extent")
            .i32("smallValue", "most bytes of a value that travels with the metadata, or 0")
            .i32("leaseMillis", "how long a location or a write lease is good for")
            .i64("incarnation", "changes with each start of the namenode")
            .i64("rootId", "node id of the root at this namenode")
            .u16("clusterLength", "bytes of cluster")
            .bytes("cluster", "clusterLength", 1, 255, "name of the cluster");

    /**
     * False if this namenode cannot have given out the id since it started. Ids go up from the
     * root's id, which is a random one of 2^62 at each start.
     */
    public boolean mayHaveGiven(long nodeId) {
      return Long.compareUnsigned(nodeId - rootId, MANY_IDS * namenodeCount) < 0;
    }

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
