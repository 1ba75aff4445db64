/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.testkit.contract.EchoCall;
import io.crail.testkit.contract.EchoService;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Virtual time, faults and determinism of {@link SimulatedNetwork}. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SimulatedNetworkTest {
  private static final long SECOND = 1_000_000_000L;
  private static final InetSocketAddress ADDRESS =
      InetSocketAddress.createUnresolved("namenode", 9060);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final SimulatedNetwork network = new SimulatedNetwork(seed);
  private final EchoService service = new EchoService();

  SimulatedNetworkTest() {
    System.out.println("seed " + seed);
  }

  private static RpcPeer peer(ClientLoop loop) {
    return new RpcPeer(
        loop,
        ADDRESS,
        to -> EchoCall.once(to, EchoService.HELLO, new byte[8], SECOND),
        new RpcPeer.Options(64, 10_000, 20, SECOND, SECOND / 100));
  }

  private ClientLoop open() throws Exception {
    network.transport("server").listen("nn", ADDRESS, service);
    return network.transport("client").newClientLoop("c");
  }

  private static EchoCall submit(EchoCall call) {
    call.submit();
    return call;
  }

  private static void end(EchoCall call) throws InterruptedException {
    ClientLoop loop = call.peer().loop();
    assertTrue(loop.await(call, loop.clock().nanoTime() + 1_000 * SECOND), "no end");
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(8).putInt(value).array();
  }

  /** A run with every kind of fault, as text. */
  private static String history(long seed) throws Exception {
    SimulatedNetwork network = new SimulatedNetwork(seed);
    network.breakConnections(0.02);
    network.latency(Duration.ofNanos(5_000), Duration.ofMillis(2));
    EchoService service = new EchoService();
    network.transport("server").listen("nn", ADDRESS, service);
    StringBuilder told = new StringBuilder();
    List<ClientLoop> loops = new ArrayList<>();
    List<EchoCall> calls = new ArrayList<>();
    for (int client = 0; client < 3; client++) {
      String host = "client-" + client;
      ClientLoop loop = network.transport(host).newClientLoop(host);
      loops.add(loop);
      RpcPeer peer = peer(loop);
      for (int i = 0; i < 200; i++) {
        String name = host + "/" + i;
        EchoCall call =
            i % 3 == 0
                ? EchoCall.once(peer, EchoService.ECHO, number(i), 5 * SECOND)
                : EchoCall.of(peer, EchoService.ECHO, number(i), 5 * SECOND);
        call.whenComplete(
            () ->
                told.append(name)
                    .append(call.failure() == null ? " ok " : " " + call.failure().code() + " ")
                    .append(network.clock().nanoTime())
                    .append('\n'));
        network.schedule(Duration.ofNanos(network.random().nextInt(1_000_000_000)), call::submit);
        calls.add(call);
      }
    }
    network.runFor(Duration.ofMillis(300));
    network.partition("client-1", "server");
    network.runFor(Duration.ofMillis(200));
    network.cut("client-2", "server");
    network.heal("client-1", "server");
    network.runFor(Duration.ofSeconds(10));
    for (EchoCall call : calls) {
      assertTrue(call.isComplete());
    }
    for (ClientLoop loop : loops) {
      assertEquals(0, loop.outstanding());
      loop.close();
    }
    network.runFor(Duration.ofSeconds(1));
    assertEquals(0, network.connectionCount());
    return told.append(service.served()).toString();
  }

  @Test
  void doesTheSameForTheSameSeed() throws Exception {
    String first = history(seed);
    assertEquals(first, history(seed));
    assertNotEquals(first, history(seed + 1));
    assertTrue(first.contains(ErrorCode.UNAVAILABLE.name()), "no fault at all");
  }

  @Test
  void jumpsOverTimeInWhichNothingHappens() throws Exception {
    ClientLoop loop = open();
    EchoCall call = submit(EchoCall.of(peer(loop), EchoService.IGNORE, number(1), 600 * SECOND));
    long virtual = network.clock().nanoTime();
    long start = System.nanoTime();
    end(call);
    assertEquals(ErrorCode.TIMED_OUT, call.failure().code());
    assertTrue(network.clock().nanoTime() - virtual >= 600 * SECOND);
    assertTrue(System.nanoTime() - start < 30 * SECOND, "it took real time");
  }

  @Test
  void takesAtLeastTheLatencyBothWays() throws Exception {
    network.latency(Duration.ofMillis(3), Duration.ofMillis(4));
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    long start = network.clock().nanoTime();
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(2), 10 * SECOND)));
    long took = network.clock().nanoTime() - start;
    assertTrue(took >= 6_000_000 && took < 9_000_000, "took " + took);
  }

  @Test
  void limitsBandwidth() throws Exception {
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    network.bandwidth("client", 1_000_000);
    long start = network.clock().nanoTime();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      calls.add(submit(EchoCall.of(peer, EchoService.ECHO, new byte[50_000], 60 * SECOND)));
    }
    for (EchoCall call : calls) {
      end(call);
      assertNull(call.failure());
    }
    long took = network.clock().nanoTime() - start;
    assertTrue(took >= 2 * SECOND, "2 MB at 1 MB/s took " + took);
  }

  @Test
  void holdsWhatAPartitionSeparates() throws Exception {
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    network.partition("client", "server");
    EchoCall patient = submit(EchoCall.of(peer, EchoService.ECHO, number(2), 100 * SECOND));
    EchoCall hasty = submit(EchoCall.of(peer, EchoService.ECHO, number(3), SECOND / 2));
    end(hasty);
    assertEquals(ErrorCode.TIMED_OUT, hasty.failure().code());
    assertFalse(patient.isComplete());
    assertEquals(2, service.served(), "the handshake and the first");
    network.heal("client", "server");
    end(patient);
    assertNull(patient.failure());
    assertArrayEquals(number(2), patient.answer());
    assertEquals(1, service.opened(), "the connection has outlived it");
  }

  @Test
  void losesAHostWithoutAWord() throws Exception {
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    network.crash("server");
    EchoCall call = submit(EchoCall.of(peer, EchoService.ECHO, number(2), 5 * SECOND));
    network.runFor(Duration.ofSeconds(2));
    assertFalse(call.isComplete(), "no one reports that it is gone");
    // Another takes its place; the client finds out that its old connection is dead.
    network.transport("spare").listen("nn", ADDRESS, service);
    end(call);
    assertEquals(ErrorCode.TIMED_OUT, call.failure().code());
    EchoCall next = submit(EchoCall.of(peer, EchoService.ECHO, number(3), 5 * SECOND));
    end(next);
    assertNull(next.failure());
    assertEquals(2, service.opened());
  }

  /** With a pause after each, so that nothing is outstanding for most of the time. */
  @Test
  void findsADeadConnectionThoughEachCallIsGivenUpEarly() throws Exception {
    network.driveIdleLoops(true);
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    network.crash("server");
    network.transport("spare").listen("nn", ADDRESS, service);
    EchoCall call = null;
    for (int i = 0; i < 10 && (call == null || call.failure() != null); i++) {
      network.runFor(Duration.ofMillis(300));
      call = submit(EchoCall.of(peer, EchoService.ECHO, number(2), SECOND / 2));
      end(call);
    }
    assertNull(call.failure());
    assertEquals(2, service.opened());
  }

  /** A server that answers each call, but late, is not taken for dead. */
  @Test
  void keepsAConnectionWhoseAnswersComeLate() throws Exception {
    network.driveIdleLoops(true);
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    end(submit(EchoCall.of(peer, EchoService.ECHO, number(1), 10 * SECOND)));
    network.latency(Duration.ofMillis(300), Duration.ofMillis(350));
    for (int i = 0; i < 10; i++) {
      EchoCall call = submit(EchoCall.of(peer, EchoService.ECHO, number(2), SECOND / 2));
      end(call);
      assertEquals(ErrorCode.TIMED_OUT, call.failure().code());
      network.runFor(Duration.ofMillis(300));
    }
    assertEquals(1, service.opened());
  }

  /** What was answered took place; what may not be repeated took place once at most. */
  @Test
  void neverRepeatsWhatMayNotBeRepeated() throws Exception {
    network.breakConnections(0.05);
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    int[] failures = new int[1];
    List<byte[]> sent = new ArrayList<>();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      byte[] body = number(i);
      sent.add(body);
      calls.add(submit(EchoCall.once(peer, EchoService.ECHO, body, 20 * SECOND)));
      if (i % 5 == 0) {
        end(calls.get(i));
      }
    }
    for (int i = 0; i < calls.size(); i++) {
      EchoCall call = calls.get(i);
      end(call);
      long key = ByteBuffer.wrap(sent.get(i)).order(java.nio.ByteOrder.LITTLE_ENDIAN).getLong();
      long times = service.numbers().stream().filter(number -> number == key).count();
      if (call.failure() == null) {
        assertEquals(1, times, "call " + i);
      } else {
        failures[0]++;
        assertEquals(ErrorCode.UNAVAILABLE, call.failure().code());
        assertTrue(times <= 1, "call " + i + " took place " + times + " times");
      }
    }
    assertTrue(failures[0] > 0, "no fault at all");
    assertTrue(failures[0] < 900, failures[0] + " failures");
  }

  @Test
  void bringsEverythingThroughThatMayBeRepeated() throws Exception {
    network.breakConnections(0.05);
    ClientLoop loop = open();
    RpcPeer peer = peer(loop);
    for (int i = 0; i < 500; i++) {
      EchoCall call = submit(EchoCall.of(peer, EchoService.ECHO, number(i), 20 * SECOND));
      end(call);
      assertNull(call.failure());
      assertArrayEquals(number(i), call.answer());
    }
    assertTrue(service.opened() > 1, "no fault at all");
  }

  @Test
  void runsSeveralLoopsInOneThread() throws Exception {
    ClientLoop waited = open();
    ClientLoop other = network.transport("other").newClientLoop("o");
    RpcPeer otherPeer = peer(other);
    AtomicInteger chain = new AtomicInteger();
    AtomicReference<Runnable> next = new AtomicReference<>();
    next.set(
        () -> {
          EchoCall call = EchoCall.of(otherPeer, EchoService.ECHO, number(7), 10 * SECOND);
          call.whenComplete(
              () -> {
                chain.incrementAndGet();
                next.get().run();
              });
          call.submit();
        });
    next.get().run();
    EchoCall call = submit(EchoCall.of(peer(waited), EchoService.IGNORE, number(1), SECOND));
    end(call);
    assertTrue(chain.get() > 100, "the other loop stood still: " + chain.get());
  }

  @Test
  void refusesASecondThread() throws Exception {
    ClientLoop loop = open();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread stranger =
        new Thread(
            () -> thrown.set(assertThrows(IllegalStateException.class, () -> loop.pollOnce())));
    stranger.start();
    stranger.join();
    assertTrue(thrown.get().getMessage().contains("one thread"));
  }
}
