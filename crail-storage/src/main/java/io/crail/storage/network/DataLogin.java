/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.ServerLogin;
import java.util.UUID;

/** A datanode's half of the handshake of a data connection. Used by the connection's thread. */
public final class DataLogin {
  private final Mechanisms mechanisms;
  private final UUID own;
  private ServerLogin login;
  private Caller caller;

  /**
   * Begins to wait for a hello.
   *
   * @param own identity of the datanode process
   */
  public DataLogin(Mechanisms mechanisms, UUID own) {
    this.mechanisms = mechanisms;
    this.own = own;
  }

  /** Who asks; null until the login has succeeded. */
  public Caller caller() {
    return caller;
  }

  /**
   * Answers a hello.
   *
   * @throws CrailException when the client is refused; with {@link ErrorCode#PROTOCOL} when it
   *     breaks the protocol, and with {@link ErrorCode#DATA_LOST} when it expects another process
   */
  public DataHello.Response hello(DataHello.Request request) throws CrailException {
    if (request.magic() != DataHello.MAGIC || request.version() != Frame.VERSION) {
      throw ErrorCode.PROTOCOL.exception(
          "handshake with magic "
              + Integer.toHexString(request.magic())
              + ", version "
              + request.version());
    }
    if (!request.uuid().equals(own)) {
      throw ErrorCode.DATA_LOST.exception(
          "datanode process " + request.uuid() + " has ended, here is " + own);
    }
    if (login != null) {
      throw ErrorCode.PROTOCOL.exception("a second hello on a connection");
    }
    login = new ServerLogin(mechanisms, request.mechanism(), Claim.ofClient(request.clientId()));
    return next(request.message());
  }

  /**
   * Answers a further message of the login.
   *
   * @throws CrailException when the client is refused
   */
  public DataHello.Response next(SmallValue message) throws CrailException {
    if (login == null) {
      throw ErrorCode.PROTOCOL.exception("a login before hello");
    }
    Mechanism.Reply reply = login.next(message.bytes());
    caller = reply.caller();
    return new DataHello.Response(
        DataHello.MAGIC,
        Frame.VERSION,
        caller == null,
        ErrorCode.OK.number(),
        SmallValue.of(reply.message()));
  }

  /**
   * Answers a hello on a network that carries one message in each direction.
   *
   * @param most the most bytes of an answer
   * @throws CrailException when the client is refused; with {@link ErrorCode#UNSUPPORTED} when its
   *     login needs more messages, or longer ones
   */
  public DataHello.Response onlyHello(DataHello.Request request, int most) throws CrailException {
    DataHello.Response answer = hello(request);
    if (answer.more() || DataHello.Response.CODEC.length(answer) > most) {
      caller = null;
      throw ErrorCode.UNSUPPORTED.exception(
          "login by mechanism " + request.mechanism() + " over a network of one message");
    }
    return answer;
  }
}
