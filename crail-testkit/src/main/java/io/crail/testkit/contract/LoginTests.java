/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import io.crail.rpc.login.ServerLogin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A connection opens with a login of one message or more, and ends in a caller. */
interface LoginTests extends TransportBench {
  /** A client that logs in with credentials. */
  private NameNodeClient client(Transport.ServerEndpoint server, Credentials credentials) {
    return new NameNodeClient(
        newLoop(),
        List.of(server.address()),
        new NameNodeClient.Identity(Hello.ROLE_CLIENT, 9, "host", "crail", "me", credentials),
        new RpcPeer.Options(64, 1000, 3, LONG / 4, 1_000_000),
        LONG);
  }

  /** The body of a hello whose login begins with the byte 0. */
  static ByteBuffer hello(int mechanism) {
    Hello.Request hello =
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            Hello.ROLE_CLIENT,
            mechanism,
            9,
            1,
            0,
            Utf8.EMPTY,
            Utf8.EMPTY,
            SmallValue.of(new byte[1]));
    ByteBuffer bytes =
        ByteBuffer.allocate(Hello.Request.CODEC.length(hello)).order(ByteOrder.LITTLE_ENDIAN);
    Hello.Request.CODEC.encode(hello, bytes, 0);
    return bytes;
  }

  /** Sends a ping; gives its end: null, or why it has failed. */
  private static CrailException ping(NameNodeClient client) throws InterruptedException {
    OperationCall<Ping.Request, Ping.Response> call =
        client.callAt(0, NameNodeOperations.PING, new Ping.Request(5));
    ClientLoop loop = client.loop();
    assertTrue(loop.await(call, loop.clock().nanoTime() + LONG), "no end of the call");
    return call.failure();
  }

  private void refused(ErrorCode code, LoginService service, Credentials credentials)
      throws IOException, InterruptedException {
    CrailException failure = ping(client(newServer(service), credentials));
    assertEquals(code, failure == null ? ErrorCode.OK : failure.code());
    assertTrue(service.callers().isEmpty(), "a ping was served");
  }

  @Test
  default void aLoginTakesTheMessagesThatItNeeds() throws Exception {
    for (int rounds : new int[] {0, 1, 3, ServerLogin.MOST_MESSAGES}) {
      Mechanism mechanism = rounds == 0 ? Anybody.MECHANISM : new CountingLogin(rounds);
      LoginService service = new LoginService(mechanism);
      Credentials credentials = rounds == 0 ? Anybody.CREDENTIALS : new CountingLogin.Counter(1);
      NameNodeClient client = client(newServer(service), credentials);
      assertNull(ping(client));
      assertNull(ping(client));
      assertEquals(Math.max(rounds, 1) + 2, service.served(), "messages and pings");
      Caller caller = service.callers().remove();
      assertEquals(9, caller.client());
      if (rounds == 0) {
        assertEquals(Utf8.of("me"), caller.principal().name());
        assertEquals(Right.of(Principal.Role.CLIENT), caller.rights());
      } else {
        assertEquals(CountingLogin.PRINCIPAL, caller.principal());
        assertEquals(Set.of(Right.USE), caller.rights());
      }
    }
  }

  @Test
  default void aRefusedLoginEndsTheCallsWithItsReason() throws Exception {
    refused(
        ErrorCode.INVALID_ARGUMENT,
        new LoginService(new CountingLogin(3)),
        new CountingLogin.Counter(2));
    refused(ErrorCode.UNAUTHENTICATED, new LoginService(new CountingLogin(3)), Anybody.CREDENTIALS);
    refused(
        ErrorCode.PROTOCOL,
        new LoginService(new CountingLogin(ServerLogin.MOST_MESSAGES + 1)),
        new CountingLogin.Counter(1));
  }

  @Test
  default void whoseOwnMessageIsTooLongSendsNothing() throws Exception {
    LoginService service = new LoginService(new CountingLogin(3));
    Credentials credentials = new CountingLogin.Counter(1, ServerLogin.MAX_MESSAGE + 1);
    refused(ErrorCode.INVALID_ARGUMENT, service, credentials);
    assertEquals(0, service.served());
  }

  @Test
  default void nothingIsServedInTheMiddleOfALogin() throws Exception {
    LoginService service = new LoginService(new CountingLogin(3));
    byte[] hello = hello(CountingLogin.NUMBER).array();
    // It takes the server's first answer for the end of the handshake.
    RpcPeer peer =
        new RpcPeer(
            newLoop(),
            newServer(service).address(),
            to -> EchoCall.once(to, NameNodeOperations.HELLO.number(), hello, LONG),
            new RpcPeer.Options(64, 1000, 1, LONG / 4, 1_000_000));
    EchoCall call = EchoCall.once(peer, NameNodeOperations.PING.number(), new byte[8], LONG);
    call.submit();
    TransportBench.failWith(ErrorCode.UNAVAILABLE, call);
    assertTrue(service.callers().isEmpty(), "a ping was served");
    assertEquals(1, service.served());
  }
}
