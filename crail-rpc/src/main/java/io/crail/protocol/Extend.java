/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.List;

/** Allocates space for a writer; asked again for the same position it answers the same. */
public final class Extend {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 64;

  private Extend() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease
   * @param position first byte that needs space; at most the end of the space so far
   * @param wanted bytes that the writer means to write from there
   * @param size bytes written so far, made visible as by SetSize; -1 for no change
   */
  public record Request(long id, long token, long position, long wanted, long size) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Extend.Request")
            .i64("id", "node id")
            .i64("token", "the write lease")
            .i64("position", "first byte that needs space; at most the end of the space so far")
            .i64("wanted", "bytes that the writer means to write from there")
            .i64("size", "bytes written so far, made visible as by SetSize; -1 for no change");

    static final int ID = LAYOUT.offset("id");
    static final int TOKEN = LAYOUT.offset("token");
    static final int POSITION = LAYOUT.offset("position");
    static final int WANTED = LAYOUT.offset("wanted");
    static final int SIZE = LAYOUT.offset("size");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + TOKEN, message.token);
            out.putLong(offset + POSITION, message.position);
            out.putLong(offset + WANTED, message.wanted);
            out.putLong(offset + SIZE, message.size);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getLong(offset + ID),
                in.getLong(offset + TOKEN),
                in.getLong(offset + POSITION),
                in.getLong(offset + WANTED),
                in.getLong(offset + SIZE));
          }
        };
  }

  /**
   * The answer.
   *
   * @param extents the extent that holds the position and those behind it
   */
  public record Response(List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Extend.Response")
            .u16("extentsCount", "number of extents")
            .list("extents", "extentsCount", Extent.LAYOUT, MAX_EXTENTS);

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
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            int at = offset + LAYOUT.fixedLength();
            Extent.encodeAll(message.extents, out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            List<Extent> extents = Extent.readAll(in, at, extentsCount);
            return new Response(extents);
          }
        };
  }
}
