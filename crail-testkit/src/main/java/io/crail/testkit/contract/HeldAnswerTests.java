/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Answers that a service holds back: each ends once, and the others do not wait for it. */
interface HeldAnswerTests extends TransportBench {
  /** Longer than a test waits. */
  int NEVER_MILLIS = 1_000_000;

  /** More than all connections may hold together. */
  int TOO_MUCH = 1 << 30;

  /** A request whose answer is held. */
  private static EchoCall hold(RpcPeer peer, int bytes, int timeoutMillis) {
    byte[] body = pattern(40);
    ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes).putInt(timeoutMillis);
    EchoCall call = EchoCall.once(peer, EchoService.HOLD, body, LONG);
    call.submit();
    return call;
  }

  /** Requests, each with another body, when all of their answers are held. */
  private List<EchoCall> hold(RpcPeer peer, int count) {
    int before = service().held().size();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      calls.add(hold(peer, i, NEVER_MILLIS));
    }
    eventually(count + " held", () -> service().held().size() == before + count);
    return calls;
  }

  private List<EchoService.Held> takeHeld() {
    List<EchoService.Held> held = new ArrayList<>();
    while (!service().held().isEmpty()) {
      held.add(service().held().poll());
    }
    return held;
  }

  /** Releases answers, from another thread where there may be one. */
  private void releaseAll(List<EchoService.Held> held) throws InterruptedException {
    Runnable release = () -> held.forEach(EchoService.Held::release);
    if (isThreaded()) {
      Thread thread = new Thread(release);
      thread.start();
      thread.join();
    } else {
      release.run();
    }
  }

  private void expectNothingHeld(Transport.ServerEndpoint server) {
    eventually("nothing held", () -> server.statistics().get(HeldAnswers.COUNT) == 0);
    assertEquals(0, server.statistics().get(HeldAnswers.BYTES));
  }

  @Test
  default void releasesAnswersInAnyOrder() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    for (int round = 0; round < 5; round++) {
      List<EchoCall> calls = hold(peer, 40);
      for (int i = 0; i < 100; i++) {
        echo(peer, i);
      }
      calls.forEach(call -> assertFalse(call.isComplete()));
      assertEquals(40, server.statistics().get(HeldAnswers.COUNT));
      assertTrue(server.statistics().get(HeldAnswers.BYTES) > 0);
      List<EchoService.Held> held = takeHeld();
      Collections.shuffle(held, new Random(round));
      EchoService.Held first = held.remove(0);
      assertTrue(first.release());
      assertFalse(first.release(), "it leaves once");
      eventually("one", () -> calls.stream().filter(EchoCall::isComplete).count() == 1);
      releaseAll(held);
      for (EchoCall call : calls) {
        assertArrayEquals(call.request(), succeed(call).answer());
      }
      expectNothingHeld(server);
    }
  }

  @Test
  default void offersARequestNowAndThenThatAwaitsAnAnswerOfAnotherConnection() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer other = newPeer(newLoop(), server);
    EchoCall waiting =
        EchoCall.once(newPeer(newLoop(), server), EchoService.AWAIT, pattern(40), LONG);
    waiting.submit();
    eventually("offered", () -> service().offered() > 0);
    for (int i = 0; i < 2000; i++) {
      echo(other, i);
    }
    int offered = service().offered();
    assertTrue(offered < 200, "offered " + offered + " times");
    assertFalse(waiting.isComplete());
    service().answerIsThere();
    assertArrayEquals(waiting.request(), succeed(waiting).answer());
  }

  @Test
  default void releasesThousandsOfManyConnectionsAtOnce() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer.Options options = new RpcPeer.Options(1000, 100_000, 3, LONG / 4, 5_000_000);
    RpcPeer other = newPeer(newLoop(), server);
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      calls.addAll(hold(newPeer(newLoop(), server.address(), options), 700));
    }
    releaseAll(takeHeld());
    for (int i = 0; i < 20; i++) {
      echo(other, i);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
    expectNothingHeld(server);
  }

  @Test
  default void endsHeldAnswersAtTheirDeadline() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    List<EchoCall> late = hold(peer, 3);
    EchoCall early = hold(peer, 100, 50);
    failWith(ErrorCode.TIMED_OUT, early);
    assertEquals("the answer was held too long", early.failure().detail());
    List<EchoService.Held> held = takeHeld();
    assertFalse(held.remove(3).release(), "it has ended");
    late.forEach(call -> assertFalse(call.isComplete()));
    releaseAll(held);
    for (EchoCall call : late) {
      succeed(call);
    }
    expectNothingHeld(server);
  }

  @Test
  default void ignoresAnswersThatAreReleasedTooLateForTheirClient() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    // Connected, so that the call arrives before its time is over.
    echo(peer, 0);
    EchoCall call = EchoCall.once(peer, EchoService.HOLD, new byte[40], 10 * SHORT);
    ByteBuffer.wrap(call.request()).order(ByteOrder.LITTLE_ENDIAN).putInt(4, NEVER_MILLIS);
    call.submit();
    eventually("held", () -> service().held().size() == 1);
    failWith(ErrorCode.TIMED_OUT, call);
    List<EchoCall> others = hold(peer, 3);
    releaseAll(takeHeld());
    for (EchoCall other : others) {
      succeed(other);
    }
    expectNothingHeld(server);
  }

  @Test
  default void forgetsTheAnswersOfAConnectionThatIsGone() throws Exception {
    Transport.ServerEndpoint server = newServer();
    ClientLoop loop = newLoop();
    RpcPeer peer = newPeer(loop, server);
    RpcPeer stays = newPeer(newLoop(), server);
    List<EchoCall> calls = hold(stays, 5);
    final List<EchoService.Held> staying = takeHeld();
    hold(peer, 50);
    loop.close();
    eventually("its end", () -> service().closed() == 1);
    eventually("the others", () -> server.statistics().get(HeldAnswers.COUNT) == 5);
    for (EchoService.Held held : takeHeld()) {
      assertFalse(held.release(), "no caller waits for it");
    }
    releaseAll(staying);
    for (EchoCall call : calls) {
      succeed(call);
    }
    expectNothingHeld(server);
  }

  @Test
  default void forgetsHeldAnswersWhenTheServerIsClosed() throws Exception {
    Transport.ServerEndpoint server = newServer();
    List<EchoCall> calls = hold(newPeer(newLoop(), server), 50);
    List<EchoService.Held> held = takeHeld();
    assertTrue(held.remove(49).release());
    server.close();
    expectNothingHeld(server);
    releaseAll(held);
    held.forEach(answer -> assertFalse(answer.release()));
    for (EchoCall call : calls.subList(0, 49)) {
      failWith(ErrorCode.UNAVAILABLE, call);
    }
  }

  @Test
  default void servesNoFurtherWhoHoldsTooMuch() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    RpcPeer other = newPeer(newLoop(), server);
    EchoCall first = hold(peer, TOO_MUCH, NEVER_MILLIS);
    eventually("the first", () -> service().held().size() == 1);
    EchoCall second = hold(peer, 0, NEVER_MILLIS);
    EchoCall echo = EchoCall.of(peer, EchoService.ECHO, pattern(9), LONG);
    echo.submit();
    // Each may hold one, whatever others hold.
    EchoCall others = hold(other, 0, NEVER_MILLIS);
    eventually("the other's", () -> service().held().size() == 2);
    for (int i = 0; i < 50; i++) {
      pass();
    }
    assertEquals(2, service().held().size());
    assertFalse(echo.isComplete(), "it keeps its place");
    releaseAll(takeHeld());
    succeed(first);
    succeed(others);
    succeed(echo);
    assertFalse(second.isComplete());
    releaseAll(takeHeld());
    succeed(second);
    expectNothingHeld(server);
  }
}
