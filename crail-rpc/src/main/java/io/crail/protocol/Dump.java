/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.nio.ByteBuffer;

/** Writes the namenode's tree and space as text, a page at a time. */
public final class Dump {
  /** Most bytes of text in an answer. */
  public static final int MAX_TEXT = 60_000;

  private Dump() {}

  /**
   * The request.
   *
   * @param cursor 0 for the first page, then what the last page gave
   */
  public record Request(long cursor) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Dump.Request")
            .i64("cursor", "0 for the first page, then what the last page gave");

    static final int CURSOR = LAYOUT.offset("cursor");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + CURSOR, message.cursor);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getLong(offset + CURSOR));
          }
        };
  }

  /**
   * The answer.
   *
   * @param next cursor of the next page, or -1
   * @param text whole lines
   */
  public record Response(long next, Utf8 text) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Dump.Response")
            .i64("next", "cursor of the next page, or -1")
            .u16("textLength", "bytes of text")
            .bytes("text", "textLength", 0, MAX_TEXT, "whole lines");

    static final int NEXT = LAYOUT.offset("next");
    static final int TEXT_LENGTH = LAYOUT.offset("textLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.text.length();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + NEXT, message.next);
            out.putShort(offset + TEXT_LENGTH, (short) message.text.length());
            int at = offset + LAYOUT.fixedLength();
            message.text.copyTo(out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int textLength = in.getShort(offset + TEXT_LENGTH) & 0xffff;
            Utf8 text = Utf8.copyOf(in, at, textLength);
            return new Response(in.getLong(offset + NEXT), text);
          }
        };
  }
}
