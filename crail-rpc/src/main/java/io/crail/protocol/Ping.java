/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;

/** Answers, for those who want to know whether the namenode lives. */
public final class Ping {
  private Ping() {}

  /**
   * The request.
   *
   * @param data any number
   */
  public record Request(long data) {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Ping.Request").i64("data", "any number");

    static final int DATA = LAYOUT.offset("data");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + DATA, message.data);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getLong(offset + DATA));
          }
        };
  }

  /**
   * The answer.
   *
   * @param data the same number
   */
  public record Response(long data) {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Ping.Response").i64("data", "the same number");

    static final int DATA = LAYOUT.offset("data");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + DATA, message.data);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(in.getLong(offset + DATA));
          }
        };
  }
}
