/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.util.List;

/** Lists datanode ids in ascending order. */
public final class ListDatanodes {
  /** Most ids in an answer. */
  public static final int MAX_IDS = 4096;

  private ListDatanodes() {}

  /**
   * The request.
   *
   * @param after -1, or the last id of the page before
   */
  public record Request(int after) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListDatanodes.Request").i32("after", "-1, or the last id of the page before");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param ids ids above {@code after}; none at the end
   */
  public record Response(List<Integer> ids) {
    private static final Codec<Integer> ID = Codec.ofInt("Datanode id", "id", "datanode id");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListDatanodes.Response")
            .u16("idCount", "number of ids")
            .list("ids", "idCount", ID, MAX_IDS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
