/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/** Writes the namenode's tree and space as text, a page at a time. */
public final class Dump {
  /** Most bytes of text in an answer. */
  public static final int MAX_TEXT = 60_000;

  private Dump() {}

  /**
   * The request.
   *
   * @param cursor 0 for the first page, later the cursor from the page before
   */
  public record Request(long cursor) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Dump.Request")
            .i64("cursor", "0 for the first page, then what the last page gave");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
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

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
