/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Describes a datanode and its regions, for those who access them. */
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

    static final int DATANODE = LAYOUT.offset("datanode");
    static final int FIRST_REGION = LAYOUT.offset("firstRegion");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
            out.putInt(offset + FIRST_REGION, message.firstRegion);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getInt(offset + DATANODE), in.getInt(offset + FIRST_REGION));
          }
        };
  }

  /**
   * The answer.
   *
   * @param uuidHigh identity of the datanode process, upper half
   * @param uuidLow identity of the datanode process, lower half
   * @param port port that its tier serves on
   * @param storageClass storage class that it serves
   * @param online whether it was heard of lately
   * @param checksGeneration whether its tier checks the generation with each request
   * @param totalRegions regions at this namenode
   * @param tier name of its tier
   * @param host name or address that clients reach it by
   * @param path directory of its region files, or empty
   * @param regions regions from firstRegion on, as many as fit
   */
  public record Response(
      long uuidHigh,
      long uuidLow,
      int port,
      int storageClass,
      boolean online,
      boolean checksGeneration,
      int totalRegions,
      Utf8 tier,
      Utf8 host,
      Utf8 path,
      List<Region> regions) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DescribeDatanode.Response")
            .i64("uuidHigh", "identity of the datanode process, upper half")
            .i64("uuidLow", "identity of the datanode process, lower half")
            .i32("port", "port that its tier serves on")
            .i32("storageClass", "storage class that it serves")
            .u8("online", "whether it was heard of lately; 0 or 1")
            .u8(
                "checksGeneration",
                "whether its tier checks the generation with each request; 0 or 1")
            .i32("totalRegions", "regions at this namenode")
            .u16("tierLength", "bytes of tier")
            .u16("hostLength", "bytes of host")
            .u16("pathLength", "bytes of path")
            .u16("regionsCount", "number of regions")
            .bytes("tier", "tierLength", 1, TextLimits.TIER, "name of its tier")
            .bytes(
                "host",
                "hostLength",
                1,
                TextLimits.HOST,
                "name or address that clients reach it by")
            .bytes(
                "path",
                "pathLength",
                0,
                TextLimits.REGION_PATH,
                "directory of its region files, or empty")
            .list("regions", "regionsCount", Region.LAYOUT, MAX_REGIONS);

    static final int UUID_HIGH = LAYOUT.offset("uuidHigh");
    static final int UUID_LOW = LAYOUT.offset("uuidLow");
    static final int PORT = LAYOUT.offset("port");
    static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
    static final int ONLINE = LAYOUT.offset("online");
    static final int CHECKS_GENERATION = LAYOUT.offset("checksGeneration");
    static final int TOTAL_REGIONS = LAYOUT.offset("totalRegions");
    static final int TIER_LENGTH = LAYOUT.offset("tierLength");
    static final int HOST_LENGTH = LAYOUT.offset("hostLength");
    static final int PATH_LENGTH = LAYOUT.offset("pathLength");
    static final int REGIONS_COUNT = LAYOUT.offset("regionsCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength()
                + message.tier.length()
                + message.host.length()
                + message.path.length()
                + message.regions.size() * Region.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + UUID_HIGH, message.uuidHigh);
            out.putLong(offset + UUID_LOW, message.uuidLow);
            out.putInt(offset + PORT, message.port);
            out.putInt(offset + STORAGE_CLASS, message.storageClass);
            out.put(offset + ONLINE, (byte) (message.online ? 1 : 0));
            out.put(offset + CHECKS_GENERATION, (byte) (message.checksGeneration ? 1 : 0));
            out.putInt(offset + TOTAL_REGIONS, message.totalRegions);
            out.putShort(offset + TIER_LENGTH, (short) message.tier.length());
            out.putShort(offset + HOST_LENGTH, (short) message.host.length());
            out.putShort(offset + PATH_LENGTH, (short) message.path.length());
            out.putShort(offset + REGIONS_COUNT, (short) message.regions.size());
            int at = offset + LAYOUT.fixedLength();
            message.tier.copyTo(out, at);
            at += message.tier.length();
            message.host.copyTo(out, at);
            at += message.host.length();
            message.path.copyTo(out, at);
            at += message.path.length();
            for (Region element : message.regions) {
              element.encode(out, at);
              at += Region.LAYOUT.fixedLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int tierLength = in.getShort(offset + TIER_LENGTH) & 0xffff;
            Utf8 tier = Utf8.copyOf(in, at, tierLength);
            at += tierLength;
            int hostLength = in.getShort(offset + HOST_LENGTH) & 0xffff;
            Utf8 host = Utf8.copyOf(in, at, hostLength);
            at += hostLength;
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            Utf8 path = Utf8.copyOf(in, at, pathLength);
            at += pathLength;
            int regionsCount = in.getShort(offset + REGIONS_COUNT) & 0xffff;
            List<Region> regions = new ArrayList<>(regionsCount);
            for (int i = 0; i < regionsCount; i++) {
              regions.add(Region.read(in, at));
              at += Region.LAYOUT.fixedLength();
            }
            return new Response(
                in.getLong(offset + UUID_HIGH),
                in.getLong(offset + UUID_LOW),
                in.getInt(offset + PORT),
                in.getInt(offset + STORAGE_CLASS),
                in.get(offset + ONLINE) != 0,
                in.get(offset + CHECKS_GENERATION) != 0,
                in.getInt(offset + TOTAL_REGIONS),
                tier,
                host,
                path,
                regions);
          }
        };
  }
}
