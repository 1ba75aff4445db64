/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/** Lends a region to the namenode. A known region is confirmed. */
public final class RegisterRegion {
  private RegisterRegion() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   * @param start as in {@link RegisterDatanode.Request}; a namenode that knows another one refuses
   *     the region, which may have another address and key there
   * @param index the datanode's number for the region
   * @param length bytes; a multiple of the block size
   * @param address address for the tier, or 0
   * @param key access key for the tier, or 0
   * @param generation 0 when the region was never lent before. Otherwise a client that got space
   *     from an earlier namenode may still write there, and new space gets generations above this
   */
  public record Request(
      int datanode, long start, int index, long length, long address, long key, long generation) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterRegion.Request")
            .i32("datanode", "datanode id")
            .i64("start", "how many processes have had its bytes; 0 if it keeps none")
            .i32("index", "the datanode's number for the region")
            .i64("length", "bytes; a multiple of the block size")
            .i64("address", "address for the tier, or 0")
            .i64("key", "access key for the tier, or 0")
            .i64("generation", "0 if never lent before; else new generations begin above it");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** That of a datanode which keeps nothing. */
    public Request(int datanode, int index, long length, long address, long key, long generation) {
      this(datanode, 0, index, length, address, key, generation);
    }
  }

  /**
   * The answer.
   *
   * @param blocks blocks that the region was cut into
   */
  public record Response(long blocks) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterRegion.Response").i64("blocks", "blocks that the region was cut into");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
