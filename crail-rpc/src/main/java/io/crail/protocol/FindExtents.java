/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.List;

/** Finds where a node's bytes lie, from a position on. */
public final class FindExtents {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 64;

  private FindExtents() {}

  /**
   * The request.
   *
   * @param id node id
   * @param position first byte
   * @param maxExtents most extents in the answer
   */
  public record Request(long id, long position, int maxExtents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("FindExtents.Request")
            .i64("id", "node id")
            .i64("position", "first byte")
            .u16("maxExtents", "most extents in the answer");

    static final int ID = LAYOUT.offset("id");
    static final int POSITION = LAYOUT.offset("position");
    static final int MAX_EXTENTS = LAYOUT.offset("maxExtents");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + POSITION, message.position);
            out.putShort(offset + MAX_EXTENTS, (short) message.maxExtents);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getLong(offset + ID),
                in.getLong(offset + POSITION),
                in.getShort(offset + MAX_EXTENTS) & 0xffff);
          }
        };
  }

  /**
   * The answer.
   *
   * @param size bytes visible to readers
   * @param extents the extent that holds the position and those behind it; none when nothing is
   *     allocated there
   * @param value all bytes of a small value, which has no extents, unless none were asked for
   */
  public record Response(long size, List<Extent> extents, SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("FindExtents.Response")
            .i64("size", "bytes visible to readers")
            .u16("extentsCount", "number of extents")
            .u16("valueLength", "bytes of value")
            .list("extents", "extentsCount", Extent.LAYOUT, MAX_EXTENTS)
            .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, SmallValue.MEANING);

    static final int SIZE = LAYOUT.offset("size");
    static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");
    static final int VALUE_LENGTH = LAYOUT.offset("valueLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength()
                + message.extents.size() * Extent.LAYOUT.fixedLength()
                + message.value.length();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + SIZE, message.size);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            int at = offset + LAYOUT.fixedLength();
            Extent.encodeAll(message.extents, out, at);
            at += message.extents.size() * Extent.LAYOUT.fixedLength();
            out.putShort(offset + VALUE_LENGTH, (short) message.value.length());
            message.value.copyTo(out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            List<Extent> extents = Extent.readAll(in, at, extentsCount);
            at += extentsCount * Extent.LAYOUT.fixedLength();
            int valueLength = in.getShort(offset + VALUE_LENGTH) & 0xffff;
            SmallValue value = SmallValue.copyOf(in, at, valueLength);
            return new Response(in.getLong(offset + SIZE), extents, value);
          }
        };
  }
}
