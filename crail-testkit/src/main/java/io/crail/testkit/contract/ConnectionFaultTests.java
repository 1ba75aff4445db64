/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.number;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A connection that fails harms no other, and is made again. */
interface ConnectionFaultTests extends TransportBench {
  @Test
  default void servesOthersBesideABreachOfTheProtocol() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer good = newPeer(newLoop(), server);
    echo(good, 10);
    for (int opcode : new int[] {EchoService.BREACH, EchoService.BUG, 4711}) {
      RpcPeer bad = newPeer(newLoop(), server);
      EchoCall call = EchoCall.once(bad, opcode, pattern(4), LONG);
      call.submit();
      failWith(ErrorCode.UNAVAILABLE, call);
      echo(good, 100);
      echo(bad, 10);
    }
    int opened = service().opened();
    assertEquals(7, opened, "the good connection stays, each bad one is made twice");
    eventually("the ends of the bad ones", () -> service().closed() == 3);
  }

  @Test
  default void tellsTheServiceOfEachEndOnce() throws Exception {
    Transport.ServerEndpoint server = newServer();
    for (int i = 0; i < 5; i++) {
      ClientLoop loop = newLoop();
      RpcPeer peer = newPeer(loop, server);
      echo(peer, 10);
      loop.submit(peer::close);
      EchoCall afterwards = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
      afterwards.submit();
      failWith(ErrorCode.CLOSED, afterwards);
    }
    eventually("five ends", () -> service().closed() == 5);
    for (int i = 0; i < 20; i++) {
      pass();
    }
    assertEquals(5, service().closed());
  }

  @Test
  default void reportsARefusedConnection() throws Exception {
    Transport.ServerEndpoint server = newServer();
    InetSocketAddress address = server.address();
    server.close();
    ClientLoop loop = newLoop();
    RpcPeer peer = newPeer(loop, address, new RpcPeer.Options(8, 100, 3, LONG / 4, 5_000_000));
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.submit();
    failWith(ErrorCode.UNAVAILABLE, call);
    assertTrue(
        call.failure().getMessage().contains(String.valueOf(address.getPort())),
        call.failure().getMessage());
    EchoCall again = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    again.submit();
    failWith(ErrorCode.UNAVAILABLE, again);
  }

  @Test
  default void reportsARefusedHandshake() throws Exception {
    service().refuseHandshakes(ErrorCode.INVALID_ARGUMENT);
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.submit();
    failWith(ErrorCode.INVALID_ARGUMENT, call);
    service().refuseHandshakes(null);
    echo(peer, 10);
  }

  @Test
  default void retriesWhatMayBeRetriedWhenTheServerRestarts() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    echo(peer, 10);
    List<EchoCall> retried = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      retried.add(EchoCall.of(peer, EchoService.IGNORE, number(i), LONG));
    }
    EchoCall once = EchoCall.once(peer, EchoService.IGNORE, number(99), LONG);
    retried.forEach(EchoCall::submit);
    once.submit();
    drive(peer.loop(), "all requests", () -> service().served() >= 13);
    server.close();
    renewService();
    newServer(server.address());
    failWith(ErrorCode.UNAVAILABLE, once);
    drive(peer.loop(), "the retries", () -> service().served() >= 11);
    retried.forEach(call -> assertFalse(call.isComplete()));
    echo(peer, 10);
  }

  @Test
  default void doesNotEntrustARequestToADeadConnection() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    for (int i = 0; i < 3; i++) {
      echo(peer, 10);
      server.close();
      server = newServer(server.address());
      for (int p = 0; p < 10; p++) {
        pass();
      }
      // Not to be sent twice, so it would fail on the old connection.
      EchoCall call = EchoCall.once(peer, EchoService.ECHO, pattern(9), LONG);
      call.submit();
      succeed(call);
    }
  }

  @Test
  default void failsWhatIsQueuedForAServerThatStaysAway() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer =
        newPeer(newLoop(), server.address(), new RpcPeer.Options(4, 100, 3, LONG / 4, 5_000_000));
    echo(peer, 10);
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(i), LONG);
      call.submit();
      calls.add(call);
    }
    server.close();
    for (EchoCall call : calls) {
      failWith(ErrorCode.UNAVAILABLE, call);
    }
    assertEquals(0, peer.loop().outstanding());
  }
}
