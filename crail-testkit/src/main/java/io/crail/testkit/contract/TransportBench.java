/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What the tests of a transport are made of; the transport says how. */
interface TransportBench {
  /** A timeout that is not expected to pass, in nanoseconds. */
  long LONG = 60_000_000_000L;

  /** A timeout that passes, in nanoseconds. */
  long SHORT = 100_000_000L;

  /** False when everything has to happen in one thread. */
  boolean isThreaded();

  /** Most bytes that a call may allocate on both sides together. */
  int bytesOfCall();

  /** Lets a millisecond pass. */
  void pass();

  /** Keeps answers from coming; connections stay. */
  void holdAnswers();

  /** Lets answers come again, those held back included. */
  void releaseAnswers();

  /** The service behind {@link #newServer()}. */
  EchoService service();

  /** Servers that are made from now on have a service that knows nothing of what was. */
  void renewService();

  /** A server on an address. */
  Transport.ServerEndpoint newServer(InetSocketAddress address) throws IOException;

  /** A server of a service on any port. */
  Transport.ServerEndpoint newServer(Service other) throws IOException;

  /** A server on any port. */
  Transport.ServerEndpoint newServer() throws IOException;

  /** A loop that the test closes, at the latest. */
  ClientLoop newLoop();

  /** A peer with limits that let tests be quick. */
  default RpcPeer newPeer(ClientLoop loop, Transport.ServerEndpoint server) {
    return newPeer(loop, server.address());
  }

  /** A peer with limits that let tests be quick. */
  default RpcPeer newPeer(ClientLoop loop, InetSocketAddress address) {
    return newPeer(loop, address, new RpcPeer.Options(64, 100_000, 12, LONG / 4, 5_000_000));
  }

  /** A peer. */
  default RpcPeer newPeer(ClientLoop loop, InetSocketAddress address, RpcPeer.Options options) {
    return new RpcPeer(
        loop, address, to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG / 4), options);
  }

  /** Waits for a condition. */
  default void eventually(String what, BooleanSupplier condition) {
    for (int i = 0; i < 60_000; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      pass();
    }
    fail("not within time: " + what);
  }

  /** Keeps a loop going until a condition holds. */
  default void drive(ClientLoop loop, String what, BooleanSupplier condition) {
    loop.operationBegun();
    try {
      eventually(what, condition);
    } finally {
      loop.operationEnded();
    }
  }

  /** Waits for a call that must succeed. */
  static EchoCall succeed(EchoCall call) throws InterruptedException {
    assertTrue(await(call), "no end of the call");
    assertNull(call.failure());
    return call;
  }

  /** Waits for a call that must fail. */
  static void failWith(ErrorCode code, EchoCall call) throws InterruptedException {
    assertTrue(await(call), "no end of the call");
    assertNotNull(call.failure(), "the call must fail");
    assertEquals(code, call.failure().code(), call.failure().getMessage());
  }

  static boolean await(EchoCall call) throws InterruptedException {
    ClientLoop loop = call.peer().loop();
    return loop.await(call, loop.clock().nanoTime() + LONG);
  }

  /** Echoes some bytes. */
  static void echo(RpcPeer peer, int length) throws InterruptedException {
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(length), LONG);
    call.submit();
    assertArrayEquals(call.request(), succeed(call).answer());
  }

  /** Bytes that differ from place to place. */
  static byte[] pattern(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + length);
    }
    return bytes;
  }

  /** Sixteen bytes that begin with a number. */
  static byte[] number(long value) {
    byte[] bytes = new byte[16];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(value);
    return bytes;
  }

  /** Takes part in no test: any number of threads that each do the same. */
  static void inThreads(int count, Callable<Void> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<Void>> futures = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        futures.add(threads.submit(work));
      }
      for (Future<Void> future : futures) {
        future.get(120, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
