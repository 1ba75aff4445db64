/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.List;

/** Tells where a range of a node lies, for schedulers; grants no lease. */
public final class Locations {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1024;

  private Locations() {}

  /**
   * The request.
   *
   * @param id node id
   * @param position first byte
   * @param length bytes
   */
  public record Request(long id, long position, long length) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Locations.Request")
            .i64("id", "node id")
            .i64("position", "first byte")
            .i64("length", "bytes");

    static final int ID = LAYOUT.offset("id");
    static final int POSITION = LAYOUT.offset("position");
    static final int LENGTH = LAYOUT.offset("length");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + POSITION, message.position);
            out.putLong(offset + LENGTH, message.length);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getLong(offset + ID),
                in.getLong(offset + POSITION),
                in.getLong(offset + LENGTH));
          }
        };
  }

  /**
   * The answer.
   *
   * @param size bytes visible to readers
   * @param extents the extents that hold the range, as many as fit
   */
  public record Response(long size, List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Locations.Response")
            .i64("size", "bytes visible to readers")
            .u16("extentsCount", "number of extents")
            .list("extents", "extentsCount", Extent.LAYOUT, MAX_EXTENTS);

    static final int SIZE = LAYOUT.offset("size");
    static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.extents.size() * Extent.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + SIZE, message.size);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            int at = offset + LAYOUT.fixedLength();
            Extent.encodeAll(message.extents, out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            List<Extent> extents = Extent.readAll(in, at, extentsCount);
            return new Response(in.getLong(offset + SIZE), extents);
          }
        };
  }
}
