/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;

/** Takes no more space from a datanode; it may end when its last extent is free. */
public final class RemoveDatanode {
  private RemoveDatanode() {}

  /**
   * The request.
   *
   * @param givesUp whether the data of a silent datanode are given up; else it is refused
   * @param port port of the datanode
   * @param host host of the datanode as it registered
   */
  public record Request(boolean givesUp, int port, Utf8 host) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RemoveDatanode.Request")
            .u8("givesUp", "whether the data of a silent datanode are given up; 0 or 1")
            .i32("port", "port of the datanode")
            .u16("hostLength", "bytes of host")
            .bytes(
                "host", "hostLength", 1, TextLimits.HOST, "host of the datanode as it registered");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param datanode datanode id
   * @param givenUp whether it was silent and its data are given up
   * @param usedBytes bytes that are still in use on it, or are given up
   */
  public record Response(int datanode, boolean givenUp, long usedBytes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RemoveDatanode.Response")
            .i32("datanode", "datanode id")
            .u8("givenUp", "whether it was silent and its data are given up; 0 or 1")
            .i64("usedBytes", "bytes that are still in use on it, or are given up");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
