/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.await;
import static io.crail.testkit.contract.TransportBench.number;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Answers that wait for a commit: none leaves before it, all leave after it, in their order. */
interface CommitTests extends TransportBench {
  /** Connects, and sends so many requests. */
  private List<EchoCall> submit(RpcPeer peer, int count, Random random) {
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] body = random.nextInt(4) == 0 ? pattern(random.nextInt(20_000)) : number(i);
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, body, LONG);
      call.submit();
      calls.add(call);
    }
    return calls;
  }

  private void expectAll(List<EchoCall> calls) throws InterruptedException {
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
  }

  /** Makes a connection, though its handshake has to be let go too. */
  private RpcPeer connect(ClientLoop loop, SteppedGate gate) throws Exception {
    RpcPeer peer = newPeer(loop, newServer(gate));
    EchoCall first = EchoCall.of(peer, EchoService.ECHO, number(0), LONG);
    first.submit();
    drive(
        loop,
        "a connection",
        () -> {
          gate.reachAll();
          return first.isComplete();
        });
    assertArrayEquals(first.request(), succeed(first).answer());
    return peer;
  }

  @Test
  default void answersWaitForTheirCommit() throws Exception {
    SteppedGate gate = new SteppedGate(service());
    ClientLoop loop = newLoop();
    RpcPeer peer = connect(loop, gate);
    int before = service().served();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, number(i), LONG);
      call.submit();
      calls.add(call);
      int count = before + i;
      drive(loop, "it is served", () -> service().served() == count);
    }
    for (int i = 0; i < 20; i++) {
      pass();
    }
    calls.forEach(call -> assertFalse(call.isComplete()));
    gate.reachAll();
    expectAll(calls);
  }

  @Test
  default void aCommitLetsNoLaterAnswerLeave() throws Exception {
    SteppedGate gate = new SteppedGate(service());
    ClientLoop loop = newLoop();
    List<RpcPeer> peers = List.of(connect(loop, gate), connect(loop, gate));
    int before = service().served();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      EchoCall call = EchoCall.of(peers.get(i % 2), EchoService.ECHO, number(i), LONG);
      call.submit();
      calls.add(call);
      int count = before + i + 1;
      drive(loop, "it is served", () -> service().served() == count);
    }
    // The first answers of a connection wait apart from the others.
    gate.reachAllBut(4);
    expectAll(calls.subList(0, 2));
    for (int i = 0; i < 20; i++) {
      pass();
    }
    calls.subList(2, 6).forEach(call -> assertFalse(call.isComplete()));
    gate.reachAll();
    expectAll(calls);
  }

  @Test
  default void whatRestsOnNothingDoesNotWait() throws Exception {
    SteppedGate gate = new SteppedGate(service());
    ClientLoop loop = newLoop();
    RpcPeer peer = connect(loop, gate);
    int before = service().served();
    for (int i = 0; i < 3; i++) {
      EchoCall free = EchoCall.of(peer, EchoService.FREE, number(i), LONG);
      free.submit();
      drive(loop, "an answer", free::isComplete);
      assertArrayEquals(free.request(), succeed(free).answer());
    }
    EchoCall waits = EchoCall.of(peer, EchoService.ECHO, number(4), LONG);
    waits.submit();
    drive(loop, "it is served", () -> service().served() == before + 4);
    // In order, since they share a connection.
    EchoCall behind = EchoCall.of(peer, EchoService.FREE, number(5), LONG);
    behind.submit();
    drive(loop, "it is served", () -> service().served() == before + 5);
    for (int i = 0; i < 20; i++) {
      pass();
    }
    assertFalse(waits.isComplete());
    assertFalse(behind.isComplete());
    gate.reachAll();
    expectAll(List.of(waits, behind));
  }

  @Test
  default void manyConnectionsGoOnBehindAGate() throws Exception {
    Random random = new Random(17);
    SteppedGate gate = new SteppedGate(service());
    ClientLoop loop = newLoop();
    List<RpcPeer> peers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      peers.add(connect(loop, gate));
    }
    for (int round = 0; round < 5; round++) {
      List<EchoCall> calls = new ArrayList<>();
      for (RpcPeer peer : peers) {
        calls.addAll(submit(peer, 200, random));
      }
      drive(
          loop,
          "all answers",
          () -> {
            if (random.nextInt(3) == 0) {
              gate.reachAll();
            }
            return calls.stream().allMatch(EchoCall::isComplete);
          });
      expectAll(calls);
    }
  }

  @Test
  default void nothingLeavesThatCannotBeCommitted() throws Exception {
    SteppedGate gate = new SteppedGate(service());
    ClientLoop loop = newLoop();
    RpcPeer peer = connect(loop, gate);
    int before = service().served();
    EchoCall call = EchoCall.once(peer, EchoService.ECHO, number(1), LONG / 100);
    call.submit();
    drive(loop, "it is served", () -> service().served() == before + 1);
    gate.fail();
    assertTrue(await(call), "no end of the call");
    assertNotNull(call.failure(), "it was not committed");
    assertEquals(null, call.answer());
  }
}
