/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.ServerLogin;

/**
 * The handlers of the handshake: a login over hello and login messages. A connection has one login.
 * Thread-safe if the host is.
 */
public final class LoginHandler {
  /** The service behind the handshake. */
  public interface Host {
    /**
     * Refuses what no login makes good, such as another version.
     *
     * @throws CrailException when the client is refused; it may say hello again
     */
    void check(Hello.Request request) throws CrailException;

    /**
     * A login has succeeded. Gives the session what the service keeps of it, and describes the
     * cluster.
     *
     * @throws CrailException when the client is refused
     */
    Hello.Response welcome(Claim claim, Caller caller, Session session) throws CrailException;
  }

  private final Mechanisms mechanisms;
  private final Host host;

  /** Creates the handlers. */
  public LoginHandler(Mechanisms mechanisms, Host host) {
    this.mechanisms = mechanisms;
    this.host = host;
  }

  /** Adds the handlers to a server. */
  public OperationServer.Builder addTo(OperationServer.Builder builder) {
    return builder
        .handle(NameNodeOperations.HELLO, this::hello)
        .handle(NameNodeOperations.LOGIN, this::next);
  }

  private Hello.Response hello(Hello.Request request, Session session) throws CrailException {
    if (session.login() != null) {
      throw ErrorCode.PROTOCOL.exception("a second hello on a connection");
    }
    host.check(request);
    Claim claim =
        new Claim(
            new Principal(Hello.role(request.role()), request.user()),
            request.clientId(),
            request.peer(),
            request.patienceMillis(),
            request.host());
    session.begin(new ServerLogin(mechanisms, request.mechanism(), claim));
    return answer(request.message(), session);
  }

  private Hello.Response next(Login.Request request, Session session) throws CrailException {
    if (session.login() == null) {
      throw ErrorCode.PROTOCOL.exception("login before hello");
    }
    return answer(request.message(), session);
  }

  private Hello.Response answer(SmallValue message, Session session) throws CrailException {
    ServerLogin login = session.login();
    Mechanism.Reply reply = login.next(message.bytes());
    SmallValue last = SmallValue.of(reply.message());
    if (reply.caller() == null) {
      return Hello.Response.challenge(last);
    }
    Hello.Response welcome = host.welcome(login.claim(), reply.caller(), session).with(last);
    session.accept(reply.caller());
    return welcome;
  }
}
