/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.inThreads;
import static io.crail.testkit.contract.TransportBench.number;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Calls reach the service and come back, of all sizes, from many threads and at once. */
interface CallTests extends TransportBench {
  @Test
  default void carriesFramesOfAllSizes() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    for (int length = 0; length < 40; length++) {
      echo(peer, length);
    }
    for (int power = 64; power < Frame.MAX_BODY_LENGTH; power *= 2) {
      echo(peer, power - 1);
      echo(peer, power);
      echo(peer, power + 1);
    }
    echo(peer, Frame.MAX_BODY_LENGTH - 1);
    echo(peer, Frame.MAX_BODY_LENGTH);
  }

  @Test
  default void carriesManyLargeFramesAtOnce() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int length = Frame.MAX_BODY_LENGTH - i * 97;
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(length), LONG);
      call.submit();
      calls.add(call);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
  }

  @Test
  default void keepsTheOrderOfOneThread() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    List<EchoCall> calls = new ArrayList<>();
    List<Long> sent = new ArrayList<>();
    for (long i = 0; i < 5_000; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, number(i), LONG);
      call.submit();
      calls.add(call);
      sent.add(i);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
    assertEquals(sent, List.copyOf(service().numbers()));
    assertEquals(0, peer.loop().outstanding());
  }

  @Test
  default void servesSeveralLoopsAndPeers() throws Exception {
    Transport.ServerEndpoint one = newServer();
    Transport.ServerEndpoint two = newServer();
    List<RpcPeer> peers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ClientLoop loop = newLoop();
      peers.add(newPeer(loop, one));
      peers.add(newPeer(loop, two));
    }
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      EchoCall call = EchoCall.of(peers.get(i % peers.size()), EchoService.ECHO, pattern(i), LONG);
      call.submit();
      calls.add(call);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
    assertEquals(8, service().opened());
  }

  @Test
  default void servesOthersBetweenRequestsThatTakeLong() throws Exception {
    assumeTrue(isThreaded(), "without a time that passes, nothing takes long");
    Transport.ServerEndpoint server = newServer();
    RpcPeer honest = newPeer(newLoop(), server);
    echo(honest, 1);
    List<RpcPeer> flooding = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      flooding.add(newPeer(newLoop(), server));
    }
    AtomicInteger between = new AtomicInteger();
    AtomicInteger floods = new AtomicInteger();
    inThreads(
        5,
        () -> {
          int mine = floods.getAndIncrement();
          if (mine < 4) {
            try {
              labour(flooding.get(mine), 300);
            } finally {
              floods.addAndGet(100);
            }
          } else {
            while (floods.get() < 400) {
              echo(honest, 100);
              between.incrementAndGet();
            }
          }
          return null;
        });
    assertTrue(between.get() > 10, between + " echoes");
    assertTrue(service().mostLabour() <= 4, service().mostLabour() + " at once");
  }

  /** Has many requests for work served. */
  private static void labour(RpcPeer peer, int count) throws Exception {
    try {
      List<EchoCall> calls = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        // Some are longer than a message of DaRPC, and are put together before they wait.
        int length = i % 10 == 0 ? 10_000 : 7 * i;
        EchoCall call = EchoCall.of(peer, EchoService.LABOUR, pattern(length), LONG);
        call.submit();
        calls.add(call);
      }
      for (EchoCall call : calls) {
        assertArrayEquals(call.request(), succeed(call).answer());
      }
    } finally {
      peer.loop().close();
    }
  }

  @Test
  default void letsManyThreadsShareALoop() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger seed = new AtomicInteger();
    inThreads(
        12,
        () -> {
          int mine = seed.incrementAndGet();
          for (int i = 0; i < 400; i++) {
            EchoCall[] calls = new EchoCall[1 + (mine + i) % 5];
            for (int c = 0; c < calls.length; c++) {
              calls[c] = EchoCall.of(peer, EchoService.ECHO, number(mine * 1_000_000L + i), LONG);
              calls[c].submit();
            }
            for (EchoCall call : calls) {
              assertArrayEquals(call.request(), succeed(call).answer());
            }
          }
          return null;
        });
    assertEquals(0, peer.loop().outstanding());
    assertEquals(1, service().opened());
  }

  @Test
  default void reusesCalls() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(20), LONG);
    for (int i = 0; i < 2_000; i++) {
      call.again(LONG).submit();
      assertArrayEquals(call.request(), succeed(call).answer());
    }
  }

  @Test
  default void callsAllocateNothing() throws Exception {
    assumeTrue(isThreaded(), "a simulation may allocate");
    RpcPeer peer = newPeer(newLoop(), newServer());
    LeanCall[] calls = new LeanCall[64];
    for (int i = 0; i < calls.length; i++) {
      calls[i] = new LeanCall();
    }
    AllocationCount.assertAtMost(
        "a call, 64 in flight",
        50 * calls.length,
        bytesOfCall(),
        () -> {
          for (int i = 0; i < 50; i++) {
            for (LeanCall call : calls) {
              call.begin(peer);
            }
            for (LeanCall call : calls) {
              call.end();
            }
          }
        });
    AllocationCount.assertAtMost(
        "a call alone",
        400,
        bytesOfCall(),
        () -> {
          for (int i = 0; i < 400; i++) {
            calls[0].begin(peer);
            calls[0].end();
          }
        });
  }

  /** A call without objects, whose answer is longer than its request. */
  final class LeanCall extends RpcCall {
    private static final int ANSWER_BYTES = 96;

    void begin(RpcPeer peer) {
      prepare(peer, peer.loop().clock().nanoTime() + LONG);
      submit();
    }

    void end() throws InterruptedException {
      if (!peer().loop().await(this, deadlineNanos()) || isFailed()) {
        throw new AssertionError(failure());
      }
    }

    @Override
    protected int opcode() {
      return EchoService.INFLATE;
    }

    @Override
    protected boolean changes() {
      return false;
    }

    @Override
    protected int bodyLength() {
      return Integer.BYTES;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putInt(offset, ANSWER_BYTES);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      if (length != ANSWER_BYTES) {
        throw ErrorCode.PROTOCOL.exception("an answer of " + length + " bytes");
      }
    }
  }

  @Test
  default void endsCallsWithoutAWaiter() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger ended = new AtomicInteger();
    for (int i = 0; i < 10; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(i), LONG);
      call.whenComplete(ended::incrementAndGet);
      call.submit();
    }
    eventually("ten callbacks", () -> ended.get() == 10);
  }

  @Test
  default void letsCallbacksSubmit() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger ended = new AtomicInteger();
    AtomicReference<Runnable> submit = new AtomicReference<>();
    submit.set(
        () -> {
          EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(8), LONG);
          call.whenComplete(
              () -> {
                if (ended.incrementAndGet() < 200) {
                  submit.get().run();
                }
              });
          call.submit();
        });
    submit.get().run();
    eventually("a chain of 200", () -> ended.get() == 200);
  }
}
