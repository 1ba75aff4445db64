/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;

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

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
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

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
