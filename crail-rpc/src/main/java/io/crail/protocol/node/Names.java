/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;
import java.util.List;

/**
 * Returns the names of owners and groups by their numbers. The namenode gives numbers in ascending
 * order and forgets none. So a client can keep the names until the namenode restarts.
 */
public final class Names {
  /** The greatest total length of the names of an answer, in bytes. */
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

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /** A name. */
  public record Name(Utf8 text) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Names.Name")
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
   * @param names the names from the first number on, as many as fit
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
