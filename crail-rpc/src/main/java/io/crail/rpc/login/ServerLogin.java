/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/**
 * The login of one connection at its server: message after message, until the client is accepted or
 * refused. There is one login a connection. It keeps a claim and what its mechanism keeps, and no
 * message; how long it may take is the matter of the connection's owner. Used by the thread of the
 * connection.
 */
public final class ServerLogin {
  /** Most messages of a client in one login. */
  public static final int MOST_MESSAGES = 8;

  /** Most bytes of a message, on both ways. */
  public static final int MAX_MESSAGE = 1024;

  private final Mechanism mechanism;
  private final Claim claim;
  private Mechanism.Acceptor acceptor;
  private int messages;

  /**
   * Begins a login.
   *
   * @param wanted the number of the mechanism that the client wants
   * @throws CrailException with {@link ErrorCode#UNSUPPORTED} when the server does not take it
   */
  public ServerLogin(Mechanisms mechanisms, int wanted, Claim claim) throws CrailException {
    this.mechanism = mechanisms.get(wanted);
    this.claim = claim;
    this.acceptor = mechanism.begin(claim);
  }

  /** What the client says of itself. */
  public Claim claim() {
    return claim;
  }

  /**
   * Answers the next message of the client.
   *
   * @throws CrailException when the client is refused, for good; with {@link ErrorCode#PROTOCOL}
   *     when its messages are too long or too many, or the login has ended before
   * @throws IllegalStateException when the mechanism makes too long a message, which is a bug of it
   */
  public Mechanism.Reply next(byte[] message) throws CrailException {
    Mechanism.Acceptor present = acceptor;
    // Whatever is thrown below ends the login.
    acceptor = null;
    if (present == null) {
      throw ErrorCode.PROTOCOL.exception("a message for a login that has ended");
    }
    messages++;
    check(message.length, messages);
    Mechanism.Reply reply = present.next(message);
    if (reply.message().length > MAX_MESSAGE) {
      throw new IllegalStateException(
          "login mechanism '"
              + mechanism.name()
              + "' makes a message of "
              + reply.message().length
              + " bytes; at most "
              + MAX_MESSAGE
              + " can be sent");
    }
    if (reply.caller() == null) {
      acceptor = present;
    }
    return reply;
  }

  /** Checks a message, and the number of messages with it. */
  static void check(int length, int count) throws CrailException {
    if (length > MAX_MESSAGE) {
      throw ErrorCode.PROTOCOL.exception("a message of " + length + " bytes in a login");
    }
    if (count > MOST_MESSAGES) {
      throw ErrorCode.PROTOCOL.exception("a login of more than " + MOST_MESSAGES + " messages");
    }
  }
}
