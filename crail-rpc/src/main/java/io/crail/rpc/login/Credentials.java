/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/** What a client logs in with. Thread-safe. */
public interface Credentials {
  /** The {@link Mechanism#number} of the login. */
  int mechanism();

  /**
   * Begins the login of a connection.
   *
   * @param claim what the client is about to say of itself
   * @throws CrailException when there is nothing to log in with
   */
  Initiator begin(Claim claim) throws CrailException;

  /**
   * The client's half of one login. Its messages have at most {@link ServerLogin#MAX_MESSAGE}
   * bytes. Used by the loop of its connection.
   */
  interface Initiator {
    /** The first message; may be empty. */
    byte[] first();

    /** The key that this login proves; null if it proves none. */
    default LoginKey key() {
      return null;
    }

    /**
     * Answers a message of the server, which wants another one.
     *
     * @throws CrailException when the server has not proved what it must
     */
    byte[] next(byte[] challenge) throws CrailException;

    /**
     * The server has accepted this client.
     *
     * @param last the server's last message
     * @throws CrailException when the server has not proved what it must
     */
    default void accepted(byte[] last) throws CrailException {
      if (last.length > 0) {
        throw ErrorCode.PROTOCOL.exception("an end of the login with " + last.length + " bytes");
      }
    }
  }
}
