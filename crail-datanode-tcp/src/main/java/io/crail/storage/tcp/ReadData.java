/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/**
 * Reads bytes of a region. The data follow the fixed part of the answer. When the data were sent
 * straight from the region, a second response frame with the same correlation id and no body
 * follows. Its code says whether the data belonged to the generation until the last byte had left.
 * Only then is the read complete. A failed read has one response frame, the error.
 */
public final class ReadData {
  private ReadData() {}

  /**
   * The request.
   *
   * @param region index of the region
   * @param length number of bytes, 1 to {@link DataNodeOperations#MAX_DATA_LENGTH}
   * @param regionOffset position of the first byte in the region
   * @param generation generation of the space
   */
  public record Request(int region, int length, long regionOffset, long generation) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReadData.Request")
            .i32("region", "index of the region")
            .i32("length", "number of bytes, 1 to 1073741824")
            .i64("regionOffset", "position of the first byte in the region")
            .i64("generation", "generation of the space");

    static final int REGION = LAYOUT.offset("region");
    static final int LENGTH = LAYOUT.offset("length");
    static final int REGION_OFFSET = LAYOUT.offset("regionOffset");
    static final int GENERATION = LAYOUT.offset("generation");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** Writes the fields of a request without creating a request. */
    static void encodeFields(
        ByteBuffer out, int offset, int region, int length, long regionOffset, long generation) {
      out.putInt(offset + REGION, region);
      out.putInt(offset + LENGTH, length);
      out.putLong(offset + REGION_OFFSET, regionOffset);
      out.putLong(offset + GENERATION, generation);
    }
  }

  /**
   * The fixed part of the answer.
   *
   * @param dataLength bytes of data after it, as many as were asked for
   * @param trailer whether a second frame follows
   */
  public record Response(int dataLength, boolean trailer) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ReadData.Response")
            .i32("dataLength", "bytes of data, as many as were asked for")
            .i32("trailer", "whether a second frame follows; 0 or 1")
            .bytes("data", "dataLength", 1, DataNodeOperations.MAX_DATA_LENGTH, "the bytes");

    static final int DATA_LENGTH = LAYOUT.offset("dataLength");
    static final int TRAILER = LAYOUT.offset("trailer");

    /** The codec of the fixed part. The data are moved separately. */
    public static final Codec<Response> CODEC =
        new Codec<>(Response.class, LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            encodeFields(out, offset, message.dataLength, message.trailer);
          }

          @Override
          public Response read(ByteBuffer in, int offset) {
            return new Response(in.getInt(offset + DATA_LENGTH), in.getInt(offset + TRAILER) != 0);
          }
        };

    /** Writes the fixed part without creating an object. */
    static void encodeFields(ByteBuffer out, int offset, int dataLength, boolean trailer) {
      out.putInt(offset + DATA_LENGTH, dataLength);
      out.putInt(offset + TRAILER, trailer ? 1 : 0);
    }
  }
}
