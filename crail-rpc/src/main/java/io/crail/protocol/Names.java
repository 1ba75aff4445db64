/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells the names of owners and groups by the numbers that a namenode has given them. It gives them
 * one after the other and forgets none, so a client keeps what it was told until the namenode
 * starts anew.
 */
public final class Names {
  /** Most bytes that all names of an answer have together. */
  public static final int MAX_NAMES_LENGTH = 60_000;

  private Names() {}

  /**
   * The request.
   *
   * @param first the first number
   */
  public record Request(int first) {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Names.Request").u16("first", "the first number");

    private static final int FIRST = LAYOUT.offset("first");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putShort(offset + FIRST, (short) message.first);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getShort(offset + FIRST) & 0xffff);
          }
        };
  }

  /** A name. */
  public record Name(Utf8 text) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Name")
            .u8("textLength", "bytes of text")
            .bytes("text", "textLength", 1, TextLimits.USER, "the name");

    private static final int TEXT_LENGTH = LAYOUT.offset("textLength");

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + text.length();
    }

    void encode(ByteBuffer out, int offset) {
      out.put(offset + TEXT_LENGTH, (byte) text.length());
      text.copyTo(out, offset + LAYOUT.fixedLength());
    }
  }

  /**
   * The answer.
   *
   * @param names the names from the first number on, as many as there are and fit
   */
  public record Response(List<Name> names) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Response")
            .u16("nameCount", "number of names")
            .u16("namesLength", "bytes of names")
            .bytes("names", "namesLength", 0, MAX_NAMES_LENGTH, "names, each a Names.Name");

    private static final int NAME_COUNT = LAYOUT.offset("nameCount");
    private static final int NAMES_LENGTH = LAYOUT.offset("namesLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + namesLength(message);
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putShort(offset + NAME_COUNT, (short) message.names.size());
            out.putShort(offset + NAMES_LENGTH, (short) namesLength(message));
            int at = offset + LAYOUT.fixedLength();
            for (Name name : message.names) {
              name.encode(out, at);
              at += name.wireLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) throws CrailException {
            int count = in.getShort(offset + NAME_COUNT) & 0xffff;
            int at = offset + LAYOUT.fixedLength();
            int end = at + (in.getShort(offset + NAMES_LENGTH) & 0xffff);
            List<Name> names = new ArrayList<>();
            for (int i = 0; i < count; i++) {
              int left = end - at;
              int textLength =
                  left < Name.LAYOUT.fixedLength() ? 0 : in.get(at + Name.TEXT_LENGTH) & 0xff;
              int length = Math.min(left, Name.LAYOUT.fixedLength() + textLength);
              Name.LAYOUT.check(in, at, length);
              names.add(new Name(Utf8.copyOf(in, at + Name.LAYOUT.fixedLength(), textLength)));
              at += length;
            }
            if (at != end) {
              throw ErrorCode.PROTOCOL.exception("Names.Response has bytes behind its last name");
            }
            return new Response(List.copyOf(names));
          }
        };

    private static int namesLength(Response message) {
      int length = 0;
      for (Name name : message.names) {
        length += name.wireLength();
      }
      return length;
    }
  }
}
