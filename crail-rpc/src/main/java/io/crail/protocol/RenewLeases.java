/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;

/** Renews all write leases of a client. */
public final class RenewLeases {
  private RenewLeases() {}

  /**
   * The request.
   *
   * @param clientId the client
   */
  public record Request(long clientId) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Request").i64("clientId", "the client");

    static final int CLIENT_ID = LAYOUT.offset("clientId");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + CLIENT_ID, message.clientId);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getLong(offset + CLIENT_ID));
          }
        };
  }

  /**
   * The answer.
   *
   * @param leases write leases that the client holds
   */
  public record Response(int leases) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Response").i32("leases", "write leases that the client holds");

    static final int LEASES = LAYOUT.offset("leases");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putInt(offset + LEASES, message.leases);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(in.getInt(offset + LEASES));
          }
        };
  }
}
