/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.ServerLogin;

/** A further message of the login that {@link Hello} has begun. The answer is that of a hello. */
public final class Login {
  private Login() {}

  /**
   * The request.
   *
   * @param message the client's next message
   */
  public record Request(SmallValue message) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Login.Request")
            .u16("messageLength", "bytes of message")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the client's next message of the login");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }
}
