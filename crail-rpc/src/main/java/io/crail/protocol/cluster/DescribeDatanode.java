/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TextLimits;
import io.crail.protocol.part.TierTraits;
import io.crail.protocol.secret.Ticket;
import java.util.List;

/** Describes a datanode and its regions to the clients that access them. */
public final class DescribeDatanode {
  /** Most regions in an answer. */
  public static final int MAX_REGIONS = 1024;

  private DescribeDatanode() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   * @param firstRegion number of regions to skip
   */
  public record Request(int datanode, int firstRegion) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DescribeDatanode.Request")
            .i32("datanode", "datanode id")
            .i32("firstRegion", "number of regions to skip");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param uuidHigh identity of the datanode process, upper half
   * @param uuidLow identity of the datanode process, lower half
   * @param port port on which its tier serves
   * @param storageClass storage class that it serves
   * @param online whether it has sent a sign of life recently
   * @param keeps whether its bytes outlast its process, so that it is worth waiting for
   * @param totalRegions regions at this namenode
   * @param tier name of its tier
   * @param host name or address under which clients reach it
   * @param traits what its tier can do
   * @param ticket what the client logs in with there, see {@code Ticket}; empty if it needs none
   * @param regions the regions from firstRegion on, as many as fit
   */
  public record Response(
      long uuidHigh,
      long uuidLow,
      int port,
      int storageClass,
      boolean online,
      boolean keeps,
      int totalRegions,
      Utf8 tier,
      Utf8 host,
      TierTraits traits,
      SmallValue ticket,
      List<Region> regions) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DescribeDatanode.Response")
            .i64("uuidHigh", "identity of the datanode process, upper half")
            .i64("uuidLow", "identity of the datanode process, lower half")
            .i32("port", "port that its tier serves on")
            .i32("storageClass", "storage class that it serves")
            .u8("online", "whether it was heard of lately; 0 or 1")
            .u8("keeps", "whether its bytes outlast its process; 0 or 1")
            .i32("totalRegions", "regions at this namenode")
            .u16("tierLength", "bytes of tier")
            .u16("hostLength", "bytes of host")
            .u16("traitsLength", "bytes of traits")
            .u16("ticketLength", "bytes of ticket; 0 where no login is needed")
            .u16("regionsCount", "number of regions")
            .bytes("tier", "tierLength", 1, TextLimits.TIER, "name of its tier")
            .bytes(
                "host",
                "hostLength",
                1,
                TextLimits.HOST,
                "name or address that clients reach it by")
            .part("traits", "traitsLength", TierTraits.CODEC, "what its tier can do")
            .bytes("ticket", "ticketLength", 0, Ticket.LENGTH, "what the client logs in with there")
            .list("regions", "regionsCount", Region.CODEC, MAX_REGIONS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
