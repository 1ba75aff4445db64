/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Independent;
import io.crail.protocol.codec.Layout;

/** Shows whether the namenode is alive: it answers. */
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

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param data the same number
   */
  public record Response(long data) implements Independent {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Ping.Response").i64("data", "the same number");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    @Override
    public boolean isIndependent() {
      return true;
    }
  }
}
