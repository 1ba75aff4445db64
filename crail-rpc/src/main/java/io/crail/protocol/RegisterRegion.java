/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;

/**
 * Lends a region to the namenode; a region that is known is confirmed. Sent again without an answer
 * it is the same request.
 */
public final class RegisterRegion {
  private RegisterRegion() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   * @param index the datanode's number for the region
   * @param length bytes; a multiple of the block size
   * @param address address for the tier, or 0
   * @param key access key for the tier, or 0
   * @param generation 0 when the region was never lent before; else somebody may still write there
   *     whom an earlier namenode gave space, and those who get space now get generations above this
   */
  public record Request(
      int datanode, int index, long length, long address, long key, long generation) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterRegion.Request")
            .i32("datanode", "datanode id")
            .i32("index", "the datanode's number for the region")
            .i64("length", "bytes; a multiple of the block size")
            .i64("address", "address for the tier, or 0")
            .i64("key", "access key for the tier, or 0")
            .i64("generation", "0 if never lent before; else new generations begin above it");

    static final int DATANODE = LAYOUT.offset("datanode");
    static final int INDEX = LAYOUT.offset("index");
    static final int LENGTH = LAYOUT.offset("length");
    static final int ADDRESS = LAYOUT.offset("address");
    static final int KEY = LAYOUT.offset("key");
    static final int GENERATION = LAYOUT.offset("generation");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
            out.putInt(offset + INDEX, message.index);
            out.putLong(offset + LENGTH, message.length);
            out.putLong(offset + ADDRESS, message.address);
            out.putLong(offset + KEY, message.key);
            out.putLong(offset + GENERATION, message.generation);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getInt(offset + DATANODE),
                in.getInt(offset + INDEX),
                in.getLong(offset + LENGTH),
                in.getLong(offset + ADDRESS),
                in.getLong(offset + KEY),
                in.getLong(offset + GENERATION));
          }
        };
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

    static final int BLOCKS = LAYOUT.offset("blocks");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + BLOCKS, message.blocks);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(in.getLong(offset + BLOCKS));
          }
        };
  }
}
