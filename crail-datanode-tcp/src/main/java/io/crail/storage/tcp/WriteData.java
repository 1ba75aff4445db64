/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * Writes bytes to a region. The data follow the fixed part of the request, and must arrive within
 * the time that the handshake has announced. The answer comes when the data are placed. A refusal
 * too is sent only after all data have arrived. A generation that no namenode gives out is
 * INVALID_ARGUMENT, since space that took this generation would be lost.
 */
public final class WriteData {
  private WriteData() {}

  /**
   * The fixed part of the request.
   *
   * @param region index of the region
   * @param dataLength bytes of data after it, 1 to {@link DataNodeOperations#MAX_DATA_LENGTH}
   * @param regionOffset position of the first byte in the region
   * @param generation generation of the space
   */
  public record Request(int region, int dataLength, long regionOffset, long generation) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("WriteData.Request")
            .i32("region", "index of the region")
            .i32("dataLength", "bytes of data")
            .i64("regionOffset", "position of the first byte in the region")
            .i64("generation", "generation of the space")
            .bytes("data", "dataLength", 1, DataNodeOperations.MAX_DATA_LENGTH, "the bytes");

    static final int REGION = LAYOUT.offset("region");
    static final int DATA_LENGTH = LAYOUT.offset("dataLength");
    static final int REGION_OFFSET = LAYOUT.offset("regionOffset");
    static final int GENERATION = LAYOUT.offset("generation");

    /** The codec of the fixed part. The data are moved separately. */
    public static final Codec<Request> CODEC =
        new Codec<>(Request.class, LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            encodeFields(
                out,
                offset,
                message.region,
                message.dataLength,
                message.regionOffset,
                message.generation);
          }

          @Override
          public Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getInt(offset + REGION),
                in.getInt(offset + DATA_LENGTH),
                in.getLong(offset + REGION_OFFSET),
                in.getLong(offset + GENERATION));
          }
        };

    /** Writes the fixed part without creating an object. */
    static void encodeFields(
        ByteBuffer out,
        int offset,
        int region,
        int dataLength,
        long regionOffset,
        long generation) {
      out.putInt(offset + REGION, region);
      out.putInt(offset + DATA_LENGTH, dataLength);
      out.putLong(offset + REGION_OFFSET, regionOffset);
      out.putLong(offset + GENERATION, generation);
    }
  }

  /** The answer. */
  public record Response() {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("WriteData.Response");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
