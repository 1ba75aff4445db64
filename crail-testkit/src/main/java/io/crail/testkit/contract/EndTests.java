/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.await;
import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.inThreads;
import static io.crail.testkit.contract.TransportBench.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.loop.Completion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What is closed ends whatever waits for it. */
interface EndTests extends TransportBench {
  @Test
  default void namesTheAddressThatIsTaken() throws Exception {
    Transport.ServerEndpoint server = newServer();
    IOException taken = assertThrows(IOException.class, () -> newServer(server.address()));
    assertTrue(
        taken.getMessage().contains(String.valueOf(server.address().getPort())),
        taken.getMessage());
    echo(newPeer(newLoop(), server), 10);
  }

  @Test
  default void failsOutstandingCallsWhenTheLoopIsClosed() throws Exception {
    ClientLoop loop = newLoop();
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(loop, server);
    RpcPeer unreached = newPeer(loop, server);
    echo(peer, 10);
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      EchoCall call =
          EchoCall.of(i % 2 == 0 ? peer : unreached, EchoService.IGNORE, number(i), LONG);
      call.submit();
      calls.add(call);
    }
    loop.close();
    for (EchoCall call : calls) {
      assertTrue(call.isComplete());
      assertEquals(ErrorCode.CLOSED, call.failure().code());
    }
    EchoCall afterwards = EchoCall.of(peer, EchoService.ECHO, number(1), LONG);
    afterwards.submit();
    failWith(ErrorCode.CLOSED, afterwards);
    assertEquals(0, loop.outstanding());
    loop.close();
  }

  @Test
  default void freesWaitingThreadsWhenTheLoopIsClosed() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    ClientLoop loop = newLoop();
    RpcPeer peer = newPeer(loop, newServer());
    echo(peer, 10);
    AtomicInteger waiting = new AtomicInteger();
    AtomicBoolean closing = new AtomicBoolean();
    Thread closer =
        new Thread(
            () -> {
              eventually("waiters", () -> waiting.get() == 5);
              closing.set(true);
              loop.close();
            });
    closer.start();
    inThreads(
        5,
        () -> {
          EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
          call.submit();
          waiting.incrementAndGet();
          failWith(ErrorCode.CLOSED, call);
          assertTrue(closing.get());
          return null;
        });
    closer.join();
  }

  @Test
  default void endsAWaitWhenTheThreadIsInterrupted() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    RpcPeer peer = newPeer(newLoop(), newServer());
    echo(peer, 10);
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
    call.submit();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        new Thread(() -> thrown.set(assertThrows(InterruptedException.class, () -> await(call))));
    waiter.start();
    waiter.interrupt();
    waiter.join(60_000);
    assertNotNull(thrown.get());
    echo(peer, 10);
  }

  @Test
  default void timesAWaitOutBeforeTheCall() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
    call.submit();
    ClientLoop loop = peer.loop();
    assertFalse(loop.await((Completion) call, loop.clock().nanoTime() + 10_000_000));
    assertFalse(call.isComplete());
  }
}
