/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.await;
import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.number;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.RpcPeer;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A call that fails ends with a type, and harms no other. */
interface CallFaultTests extends TransportBench {
  @Test
  default void carriesErrors() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.REFUSE, "/a/b".getBytes(), LONG);
    call.submit();
    failWith(ErrorCode.NODE_NOT_FOUND, call);
    assertEquals("/a/b", call.failure().detail());
    echo(peer, 10);
  }

  @Test
  default void endsACallAtItsDeadline() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    echo(peer, 10);
    long start = peer.loop().clock().nanoTime();
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, pattern(4), SHORT);
    call.submit();
    failWith(ErrorCode.TIMED_OUT, call);
    long took = peer.loop().clock().nanoTime() - start;
    assertTrue(took >= SHORT, "too early: " + took);
    assertTrue(took < SHORT + LONG, "too late: " + took);
    echo(peer, 10);
  }

  @Test
  default void endsACallAtItsDeadlineWithoutAWaiter() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, pattern(4), SHORT);
    call.submit();
    eventually("the end of the call", call::isComplete);
    failWith(ErrorCode.TIMED_OUT, call);
  }

  @Test
  default void ignoresLateAnswers() throws Exception {
    RpcPeer.Options options = new RpcPeer.Options(1, 100, 3, LONG, 1_000_000);
    RpcPeer peer = newPeer(newLoop(), newServer().address(), options);
    echo(peer, 10);
    holdAnswers();
    EchoCall late = EchoCall.of(peer, EchoService.ECHO, number(1), SHORT);
    late.submit();
    failWith(ErrorCode.TIMED_OUT, late);
    // It gets the only slot, that of the late one.
    EchoCall next = EchoCall.of(peer, EchoService.ECHO, number(2), LONG);
    next.submit();
    releaseAnswers();
    assertArrayEquals(number(2), succeed(next).answer());
    assertNull(late.answer());
    echo(peer, 10);
  }

  @Test
  default void endsTheConnectionOfAMalformedAnswer() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.TRUNCATE, pattern(100), LONG);
    call.submit();
    failWith(ErrorCode.PROTOCOL, call);
    echo(peer, 10);
    assertEquals(2, service().opened());
  }

  @Test
  default void survivesAFaultyCallback() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall faulty = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    faulty.whenComplete(
        () -> {
          throw new IllegalStateException("a faulty callback, as asked for");
        });
    faulty.submit();
    EchoCall other = EchoCall.of(peer, EchoService.ECHO, pattern(5), LONG);
    other.submit();
    succeed(other);
    succeed(faulty);
    assertEquals(1, service().opened());
  }

  @Test
  default void refusesToWaitInACallback() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall never = EchoCall.of(peer, EchoService.IGNORE, pattern(4), LONG);
    never.submit();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.whenComplete(
        () -> thrown.set(assertThrows(IllegalStateException.class, () -> await(never))));
    call.submit();
    succeed(call);
    eventually("the callback", () -> thrown.get() != null);
  }
}
