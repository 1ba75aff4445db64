/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a namenode over loopback, with real sockets and the real timer. */
@Timeout(300)
class NameNodeServerTest {
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Configuration conf =
      Configuration.builder()
          .set(NameNodeKeys.LEASE, "200ms")
          .set(NameNodeKeys.FREE_MARGIN, "50")
          .build();
  private Transport transport;
  private NameNodeServer server;
  private ClientLoop loop;
  private NameNodeClient client;

  @BeforeEach
  void start() throws Exception {
    transport = TransportProvider.open(conf);
    server = NameNodeServer.start(conf, 0, 1, ANY_PORT, transport, Clock.SYSTEM);
    loop = transport.newClientLoop("test");
    client = connect(server.address());
  }

  private NameNodeClient connect(InetSocketAddress address) {
    return new NameNodeClient(
        loop,
        List.of(address),
        new NameNodeClient.Identity(Hello.ROLE_CLIENT, 5, "host", "crail"),
        RpcPeer.Options.defaults(),
        60_000_000_000L);
  }

  @AfterEach
  void stop() {
    client.close();
    loop.close();
    server.close();
    transport.close();
  }

  private NodeInfo create(String path, long token) throws Exception {
    return client
        .call(
            NameNodeOperations.CREATE,
            new Create.Request(
                NodeType.DATAFILE, true, false, false, 0644, -1, token, Utf8.of(path), Utf8.EMPTY))
        .join()
        .node();
  }

  @Test
  void servesManyCallsInFlight() throws Exception {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      ids.add(create("/file-" + i, 0).id());
    }
    List<OperationCall<Lookup.Request, Lookup.Response>> calls = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      calls.add(
          client.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of("/file-" + i % 501))));
    }
    for (int i = 0; i < 5000; i++) {
      OperationCall<Lookup.Request, Lookup.Response> call = calls.get(i);
      if (i % 501 == 500) {
        refused(ErrorCode.NODE_NOT_FOUND, "/file-500", call::join);
      } else {
        assertEquals(ids.get(i % 501), call.join().node().id());
      }
    }
    Hello.Response hello = client.hello(0);
    assertEquals(1 << 20, hello.blockSize());
    assertEquals(200, hello.leaseMillis());
  }

  @Test
  void theTimerEndsLeases() throws Exception {
    long began = System.nanoTime();
    long id = create("/f", 9).id();
    AcquireLease.Request request = new AcquireLease.Request(id, 8);
    while (true) {
      try {
        client.call(NameNodeOperations.ACQUIRE_LEASE, request).join();
        break;
      } catch (WriteLeaseHeldException e) {
        assertTrue(System.nanoTime() - began < 60_000_000_000L, "the lease does not end");
      }
    }
    assertTrue(System.nanoTime() - began >= 200_000_000L, "the lease ended too early");
  }

  @Test
  void aTakenAddressIsNamed() {
    IOException e =
        assertThrows(
            IOException.class,
            () -> NameNodeServer.start(conf, 0, 1, server.address(), transport, Clock.SYSTEM));
    assertTrue(e.getMessage().contains(String.valueOf(server.address().getPort())), e.getMessage());
  }

  @Test
  void anIndexOutsideTheClusterIsRefused() {
    for (int index : new int[] {-1, 2}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> NameNodeServer.start(conf, index, 2, ANY_PORT, transport, Clock.SYSTEM));
    }
  }

  @Test
  void anotherStartIsAnotherIncarnation() throws Exception {
    create("/f", 0);
    long incarnation = client.hello(0).incarnation();
    InetSocketAddress address = server.address();
    server.close();
    server = NameNodeServer.start(conf, 0, 1, address, transport, Clock.SYSTEM);
    refused(
        ErrorCode.NODE_NOT_FOUND,
        () -> client.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of("/f"))).join());
    assertTrue(client.hello(0).incarnation() != incarnation);
  }

  @Test
  void neighboursAreCalledAlsoWhileItsOwnWorkFails() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    AtomicInteger calls = new AtomicInteger();
    Clock clock =
        new Clock() {
          @Override
          public long nanoTime() {
            if (fails.getAndSet(false)) {
              throw new IllegalStateException("a clock that fails once");
            }
            calls.incrementAndGet();
            return System.nanoTime();
          }

          @Override
          public long currentTimeMillis() {
            return System.currentTimeMillis();
          }
        };
    try (NameNodeServer first =
        NameNodeServer.open(conf, 0, 2, ANY_PORT, transport, clock, new Random(1))) {
      first.meet(NamenodeAddresses.of(List.of(first.address(), server.address())));
      fails.set(true);
      calls.set(0);
      assertThrows(IllegalStateException.class, first::tick);
      assertTrue(calls.get() > 0, "none has looked whether a call is due");
    }
  }
}
