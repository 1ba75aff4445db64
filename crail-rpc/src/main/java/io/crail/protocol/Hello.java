/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.nio.ByteBuffer;

/**
 * The first exchange of a connection: versions, cluster and limits come from the namenode, so that
 * nobody can disagree about them silently.
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
   * @param user whom the nodes that it creates belong to; empty: to the namenode's own user
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

    static final int MAGIC = LAYOUT.offset("magic");
    static final int MIN_VERSION = LAYOUT.offset("minVersion");
    static final int MAX_VERSION = LAYOUT.offset("maxVersion");
    static final int ROLE = LAYOUT.offset("role");
    static final int CLIENT_ID = LAYOUT.offset("clientId");
    static final int HOST_LENGTH = LAYOUT.offset("hostLength");
    static final int USER_LENGTH = LAYOUT.offset("userLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength() + message.host.length() + message.user.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + MAGIC, message.magic);
            out.put(offset + MIN_VERSION, (byte) message.minVersion);
            out.put(offset + MAX_VERSION, (byte) message.maxVersion);
            out.put(offset + ROLE, (byte) message.role);
            out.putLong(offset + CLIENT_ID, message.clientId);
            out.putShort(offset + HOST_LENGTH, (short) message.host.length());
            out.putShort(offset + USER_LENGTH, (short) message.user.length());
            int at = offset + LAYOUT.fixedLength();
            message.host.copyTo(out, at);
            at += message.host.length();
            message.user.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int hostLength = in.getShort(offset + HOST_LENGTH) & 0xffff;
            Utf8 host = Utf8.copyOf(in, at, hostLength);
            at += hostLength;
            int userLength = in.getShort(offset + USER_LENGTH) & 0xffff;
            Utf8 user = Utf8.copyOf(in, at, userLength);
            return new Request(
                in.getInt(offset + MAGIC),
                in.get(offset + MIN_VERSION) & 0xff,
                in.get(offset + MAX_VERSION) & 0xff,
                in.get(offset + ROLE) & 0xff,
                in.getLong(offset + CLIENT_ID),
                host,
                user);
          }
        };
  }

  /**
   * The answer.
   *
   * @param version the protocol version of this connection
   * @param namenodeIndex index of this namenode
   * @param namenodeCount number of namenodes in the cluster
   * @param blockSize bytes of a block, the largest extent
   * @param minExtentSize bytes of the smallest extent
   * @param smallValue most bytes of a value that travels with the metadata; 0 for none
   * @param leaseMillis how long a location or a write lease is good for
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
    /** More nodes than a namenode gives ids to between two starts. */
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
     * False for the id of a node that this namenode has not created since it started: ids go up
     * from the root's, which is anywhere among 2^62 at each start.
     */
    public boolean mayHaveGiven(long nodeId) {
      return Long.compareUnsigned(nodeId - rootId, MANY_IDS * namenodeCount) < 0;
    }

    static final int VERSION = LAYOUT.offset("version");
    static final int NAMENODE_INDEX = LAYOUT.offset("namenodeIndex");
    static final int NAMENODE_COUNT = LAYOUT.offset("namenodeCount");
    static final int BLOCK_SIZE = LAYOUT.offset("blockSize");
    static final int MIN_EXTENT_SIZE = LAYOUT.offset("minExtentSize");
    static final int SMALL_VALUE = LAYOUT.offset("smallValue");
    static final int LEASE_MILLIS = LAYOUT.offset("leaseMillis");
    static final int INCARNATION = LAYOUT.offset("incarnation");
    static final int ROOT_ID = LAYOUT.offset("rootId");
    static final int CLUSTER_LENGTH = LAYOUT.offset("clusterLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.cluster.length();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.put(offset + VERSION, (byte) message.version);
            out.putShort(offset + NAMENODE_INDEX, (short) message.namenodeIndex);
            out.putShort(offset + NAMENODE_COUNT, (short) message.namenodeCount);
            out.putInt(offset + BLOCK_SIZE, message.blockSize);
            out.putInt(offset + MIN_EXTENT_SIZE, message.minExtentSize);
            out.putInt(offset + SMALL_VALUE, message.smallValue);
            out.putInt(offset + LEASE_MILLIS, message.leaseMillis);
            out.putLong(offset + INCARNATION, message.incarnation);
            out.putLong(offset + ROOT_ID, message.rootId);
            out.putShort(offset + CLUSTER_LENGTH, (short) message.cluster.length());
            int at = offset + LAYOUT.fixedLength();
            message.cluster.copyTo(out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int clusterLength = in.getShort(offset + CLUSTER_LENGTH) & 0xffff;
            Utf8 cluster = Utf8.copyOf(in, at, clusterLength);
            return new Response(
                in.get(offset + VERSION) & 0xff,
                in.getShort(offset + NAMENODE_INDEX) & 0xffff,
                in.getShort(offset + NAMENODE_COUNT) & 0xffff,
                in.getInt(offset + BLOCK_SIZE),
                in.getInt(offset + MIN_EXTENT_SIZE),
                in.getInt(offset + SMALL_VALUE),
                in.getInt(offset + LEASE_MILLIS),
                in.getLong(offset + INCARNATION),
                in.getLong(offset + ROOT_ID),
                cluster);
          }
        };
  }
}
