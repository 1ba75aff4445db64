/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.TextLimits;
import java.util.List;

/**
 * Returns the state of each datanode, for people and programs, a page at a time. Datanodes that are
 * gone are among them while files have bytes there.
 */
public final class ReportDatanodes {
  /** Most bytes of datanodes in an answer. */
  public static final int MAX_DATANODES_LENGTH = 60_000;

  private ReportDatanodes() {}

  /**
   * The request.
   *
   * @param after -1, or the last id of the page before
   */
  public record Request(int after) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportDatanodes.Request").i32("after", "-1, or the last id of the page before");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A datanode as one namenode sees it; {@code free + used + waiting} is what it lends, unless it
   * is being removed, offline or lost: then it has no free space.
   *
   * @param id its id at this namenode
   * @param uuidHigh identity of the datanode process, upper half
   * @param uuidLow identity of the datanode process, lower half
   * @param port port on which its tier serves
   * @param storageClass storage class that it serves
   * @param state how it stands
   * @param draining whether it is being removed, also while it is impaired or offline
   * @param keeps whether its bytes outlast its process
   * @param silentMillis the time since its last sign of life
   * @param lentBytes bytes of all its regions at this namenode
   * @param freeBytes bytes that a node can get now
   * @param usedBytes bytes that belong to nodes; all of them are lost if the datanode is
   * @param waitingBytes bytes that wait for the end of leases: freed, or reserved for copies
   * @param readRate bytes that clients read from it in a second, by its last signs of life; -1 if
   *     it does not see them
   * @param writeRate the same for bytes that they write
   * @param tier name of its tier
   * @param host name or address under which clients reach it
   */
  public record Datanode(
      int id,
      long uuidHigh,
      long uuidLow,
      int port,
      int storageClass,
      DatanodeState state,
      boolean draining,
      boolean keeps,
      long silentMillis,
      long lentBytes,
      long freeBytes,
      long usedBytes,
      long waitingBytes,
      long readRate,
      long writeRate,
      Utf8 tier,
      Utf8 host) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportDatanodes.Datanode")
            .i32("id", "datanode id at this namenode")
            .i64("uuidHigh", "identity of the datanode process, upper half")
            .i64("uuidLow", "identity of the datanode process, lower half")
            .i32("port", "port that its tier serves on")
            .i32("storageClass", "storage class that it serves")
            .struct("state", DatanodeState.CODEC, "how it stands")
            .u8("draining", "whether it is being removed, in any state but lost; 0 or 1")
            .u8("keeps", "whether its bytes outlast its process; 0 or 1")
            .i64("silentMillis", "time since its last sign of life")
            .i64("lentBytes", "bytes of all its regions at this namenode")
            .i64("freeBytes", "bytes that can be given out now")
            .i64("usedBytes", "bytes that belong to nodes")
            .i64("waitingBytes", "bytes that wait for the end of leases: freed, or reserved")
            .i64("readRate", "bytes that clients read in a second, or -1 if not counted")
            .i64("writeRate", "bytes that clients write in a second, or -1 if not counted")
            .u16("tierLength", "bytes of tier")
            .u16("hostLength", "bytes of host")
            .bytes("tier", "tierLength", 1, TextLimits.TIER, "name of its tier")
            .bytes(
                "host",
                "hostLength",
                1,
                TextLimits.HOST,
                "name or address that clients reach it by");

    /** The codec. */
    public static final Codec<Datanode> CODEC = Codec.of(Datanode.class, LAYOUT);

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + tier.length() + host.length();
    }
  }

  /**
   * The answer.
   *
   * @param datanodes datanodes with ids above {@code after}, ascending; none at the end
   */
  public record Response(List<Datanode> datanodes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReportDatanodes.Response")
            .u16("datanodeCount", "number of datanodes")
            .u16("datanodesLength", "bytes of datanodes")
            .page(
                "datanodes",
                "datanodeCount",
                "datanodesLength",
                Datanode.CODEC,
                MAX_DATANODES_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
