/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;
import java.util.List;

/**
 * Returns the names of owners and groups by their numbers. The lower bits of a number are its slot;
 * a slot that gets another name gets another number. So a client can keep a name with its whole
 * number until the namenode restarts.
 */
public final class Names {
  /** Bits of a number that are its slot. */
  public static final int SLOT_BITS = 16;

  /** The greatest total length of the names of an answer, in bytes. */
  public static final int MAX_NAMES_LENGTH = 60_000;

  private Names() {}

  /**
   * The request.
   *
   * @param number a number
   */
  public record Request(int number) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Request")
            .i32("number", "a number; the names from its slot on are asked for");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A name.
   *
   * @param number its number
   * @param text the name
   */
  public record Name(int number, Utf8 text) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Name")
            .i32("number", "its number")
            .u8("textLength", "bytes of text")
            .bytes("text", "textLength", 1, TextLimits.USER, "the name");

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + text.length();
    }

    /** The codec. */
    public static final Codec<Name> CODEC = Codec.of(Name.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param names the present names from the slot on, by ascending slots, as many as fit
   */
  public record Response(List<Name> names) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Response")
            .u16("nameCount", "number of names")
            .u16("namesLength", "bytes of names")
            .page("names", "nameCount", "namesLength", Name.CODEC, MAX_NAMES_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
