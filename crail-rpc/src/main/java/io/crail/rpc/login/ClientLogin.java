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

  /**
   * Begins a login.
   *
   * @param claim what the client says of itself
   * @throws CrailException as {@link #answered}, when the credentials make too long a message
   */
  public ClientLogin(Credentials credentials, Claim claim) throws CrailException {
    this.mechanism = credentials.mechanism();
    this.initiator = credentials.begin(claim);
    this.message = checked(initiator.first());
  }

  /** The number of the mechanism. */
  public int mechanism() {
    return mechanism;
  }

  /** The message that is sent next. */
  public byte[] message() {
    return message;
  }

  /** The key that this login proves; null if it proves none. */
  public LoginKey key() {
    return initiator.key();
  }

  /**
   * Takes the server's answer to the message.
   *
   * @param more whether the server wants another message; otherwise it has accepted this client
   * @throws CrailException when the server has not proved what it must; with {@link
   *     ErrorCode#PROTOCOL} when it wants too many messages, or sends one that is too long; with
   *     {@link ErrorCode#INVALID_ARGUMENT} when the credentials make too long a message
   */
  public void answered(boolean more, byte[] answer) throws CrailException {
    messages += more ? 1 : 0;
    ServerLogin.check(answer.length, messages);
    if (more) {
      message = checked(initiator.next(answer));
    } else {
      initiator.accepted(answer);
    }
  }

  /** This client's own message. The server would only see that its peer breaks the protocol. */
  private byte[] checked(byte[] own) throws CrailException {
    if (own.length > ServerLogin.MAX_MESSAGE) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "the credentials of login mechanism "
              + mechanism
              + " make a message of "
              + own.length
              + " bytes; at most "
              + ServerLogin.MAX_MESSAGE
              + " can be sent");
    }
    return own;
  }
}
