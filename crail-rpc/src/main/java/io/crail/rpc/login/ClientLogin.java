/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * The login of one connection at its client: it has the next message, until the server accepts.
 * Used by the loop of the connection.
 */
public final class ClientLogin {
  private final int mechanism;
  private final Credentials.Initiator initiator;
  private byte[] message;
  private int messages = 1;

  /** Begins a login. */
  public ClientLogin(Credentials credentials) {
    this.mechanism = credentials.mechanism();
    this.initiator = credentials.begin();
    this.message = initiator.first();
  }

  /** The number of the mechanism. */
  public int mechanism() {
    return mechanism;
  }

  /** The message that is sent next. */
  public byte[] message() {
    return message;
  }

  /**
   * Takes the server's answer to the message.
   *
   * @param more whether the server wants another message; otherwise it has accepted this client
   * @throws CrailException when the server has not proved what it must; with {@link
   *     ErrorCode#PROTOCOL} when it wants too many messages, or too long ones
   */
  public void answered(boolean more, byte[] answer) throws CrailException {
    if (more) {
      messages++;
      ServerLogin.check(answer.length, messages);
      message = initiator.next(answer);
      ServerLogin.check(message.length, messages);
    } else {
      initiator.accepted(answer);
    }
  }
}
