/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.nio.ByteBuffer;

/** Makes a datanode known; the same incarnation keeps its id. */
public final class RegisterDatanode {
  private RegisterDatanode() {}

  /**
   * The request.
   *
   * @param uuidHigh identity of the datanode process, upper half
   * @param uuidLow identity of the datanode process, lower half
   * @param storageClass storage class that it serves
   * @param port port that its tier serves on
   * @param checksGeneration whether its tier checks the generation with each request
   * @param tier name of its tier
   * @param host name or address that clients reach it by
   * @param path directory of its region files on its host, empty when they can not be mapped
   */
  public record Request(
      long uuidHigh,
      long uuidLow,
      int storageClass,
      int port,
      boolean checksGeneration,
      Utf8 tier,
      Utf8 host,
      Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterDatanode.Request")
            .i64("uuidHigh", "identity of the datanode process, upper half")
            .i64("uuidLow", "identity of the datanode process, lower half")
            .i32("storageClass", "storage class that it serves")
            .i32("port", "port that its tier serves on")
            .u8(
                "checksGeneration",
                "whether its tier checks the generation with each request; 0 or 1")
            .u16("tierLength", "bytes of tier")
            .u16("hostLength", "bytes of host")
            .u16("pathLength", "bytes of path")
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
                "directory of its region files on its host, empty when they can not be mapped");

    static final int UUID_HIGH = LAYOUT.offset("uuidHigh");
    static final int UUID_LOW = LAYOUT.offset("uuidLow");
    static final int STORAGE_CLASS = LAYOUT.offset("storageClass");
    static final int PORT = LAYOUT.offset("port");
    static final int CHECKS_GENERATION = LAYOUT.offset("checksGeneration");
    static final int TIER_LENGTH = LAYOUT.offset("tierLength");
    static final int HOST_LENGTH = LAYOUT.offset("hostLength");
    static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength()
                + message.tier.length()
                + message.host.length()
                + message.path.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + UUID_HIGH, message.uuidHigh);
            out.putLong(offset + UUID_LOW, message.uuidLow);
            out.putInt(offset + STORAGE_CLASS, message.storageClass);
            out.putInt(offset + PORT, message.port);
            out.put(offset + CHECKS_GENERATION, (byte) (message.checksGeneration ? 1 : 0));
            out.putShort(offset + TIER_LENGTH, (short) message.tier.length());
            out.putShort(offset + HOST_LENGTH, (short) message.host.length());
            out.putShort(offset + PATH_LENGTH, (short) message.path.length());
            int at = offset + LAYOUT.fixedLength();
            message.tier.copyTo(out, at);
            at += message.tier.length();
            message.host.copyTo(out, at);
            at += message.host.length();
            message.path.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int tierLength = in.getShort(offset + TIER_LENGTH) & 0xffff;
            Utf8 tier = Utf8.copyOf(in, at, tierLength);
            at += tierLength;
            int hostLength = in.getShort(offset + HOST_LENGTH) & 0xffff;
            Utf8 host = Utf8.copyOf(in, at, hostLength);
            at += hostLength;
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            Utf8 path = Utf8.copyOf(in, at, pathLength);
            return new Request(
                in.getLong(offset + UUID_HIGH),
                in.getLong(offset + UUID_LOW),
                in.getInt(offset + STORAGE_CLASS),
                in.getInt(offset + PORT),
                in.get(offset + CHECKS_GENERATION) != 0,
                tier,
                host,
                path);
          }
        };
  }

  /**
   * The answer.
   *
   * @param datanode datanode id
   */
  public record Response(int datanode) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterDatanode.Response").i32("datanode", "datanode id");

    static final int DATANODE = LAYOUT.offset("datanode");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(in.getInt(offset + DATANODE));
          }
        };
  }
}
