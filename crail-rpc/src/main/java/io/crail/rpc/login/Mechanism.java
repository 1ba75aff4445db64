/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;

/** One way to log in, as a server knows it. Thread-safe. */
public interface Mechanism {
  /** Its number on the wire, 0 to 255; permanent. */
  int number();

  /** Its name, for messages. */
  String name();

  /** Begins the login of a connection. */
  Acceptor begin(Claim claim);

  /** The server's half of one login. Used by the thread of its connection. */
  interface Acceptor {
    /**
     * Answers the client's next message.
     *
     * @throws CrailException when the client is refused; the code and the detail become the answer
     */
    Reply next(byte[] message) throws CrailException;
  }

  /** The server's answer to a message: it is about to accept the client, or wants a message. */
  final class Reply {
    private final byte[] message;
    private final Caller caller;

    private Reply(byte[] message, Caller caller) {
      this.message = message;
      this.caller = caller;
    }

    /**
     * The client has to answer this with another message.
     *
     * @param message at most {@link ServerLogin#MAX_MESSAGE} bytes
     */
    public static Reply challenge(byte[] message) {
      return new Reply(message, null);
    }

    /**
     * The client is accepted.
     *
     * @param message the last one, as long as that of a challenge; may be empty
     */
    public static Reply accept(byte[] message, Caller caller) {
      return new Reply(message, caller);
    }

    /** The message to the client. */
    public byte[] message() {
      return message;
    }

    /** Who was accepted; null when another message is wanted. */
    public Caller caller() {
      return caller;
    }
  }
}
