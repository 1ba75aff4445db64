/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the client's endpoint against datanodes that are slow, silent, or send wrong answers. */
class TcpStorageEndpointTest {
  private static final long MILLIS = 1_000_000;
  private static final long PATIENCE = 60_000 * MILLIS;
  private static final Extent EXTENT = new Extent(0, 1 << 20, new Place(1, 0, 0, 1));
  private static final byte UNTOUCHED = 17;

  private final Configuration configuration =
      Configuration.builder()
          .set(TcpStorageKeys.CONNECT_TIMEOUT, "20s")
          .set(TcpStorageKeys.QUEUE_DEPTH, 4)
          .build();
  private final NettyTransport transport = new NettyTransport(configuration);
  private final ClientLoop loop = transport.newClientLoop("test");
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    loop.close();
    transport.close();
  }

  private ScriptedDatanode datanode(ScriptedDatanode.Script script) throws IOException {
    ScriptedDatanode datanode = new ScriptedDatanode(script);
    open.add(datanode);
    return datanode;
  }

  private StorageEndpoint endpoint(InetSocketAddress address) throws Exception {
    return endpoint(configuration, address);
  }

  private StorageEndpoint endpoint(Configuration values, InetSocketAddress address)
      throws Exception {
    StorageClient client =
        new TcpStorageTier().createClient(new StorageClient.Context(values, transport, loop, 1));
    StorageEndpoint endpoint =
        client.connect(
            new DatanodeDescription(
                UUID.randomUUID(),
                "tcp",
                address,
                0,
                TierTraits.ofMemory(FenceKind.GENERATION, true, ""),
                Map.of()));
    open.add(endpoint);
    return endpoint;
  }

  private static ByteBuffer buffer(int length) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      buffer.put(i, UNTOUCHED);
    }
    return buffer;
  }

  private Transfer begin(StorageEndpoint endpoint, boolean write, ByteBuffer buffer, long nanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(buffer, 0, buffer.capacity(), EXTENT, 0, loop.clock().nanoTime() + nanos);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    return transfer;
  }

  private ErrorCode end(Transfer transfer) throws InterruptedException {
    assertTrue(loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE));
    return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
  }

  private static void expect(byte value, ByteBuffer buffer) {
    for (int i = 0; i < buffer.capacity(); i++) {
      assertEquals(value, buffer.get(i));
    }
  }

  @Test
  void aSilentDatanodeIsGivenUpAtTheDeadline() throws Exception {
    ScriptedDatanode silent = datanode((number, peer) -> peer.awaitEnd());
    StorageEndpoint endpoint = endpoint(silent.address());
    long start = System.nanoTime();
    assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, true, buffer(100), 400 * MILLIS)));
    long took = System.nanoTime() - start;
    assertTrue(took >= 400 * MILLIS && took < PATIENCE, () -> "took " + took);
  }

  @Test
  void aDatanodeThatNeverGreetsIsUnavailable() throws Exception {
    ScriptedDatanode silent = datanode((number, peer) -> peer.awaitEnd());
    Configuration hasty =
        configuration.toBuilder().set(TcpStorageKeys.CONNECT_TIMEOUT, "300ms").build();
    StorageEndpoint endpoint = endpoint(hasty, silent.address());
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, buffer(100), PATIENCE)));
    // The kernel takes connections before the datanode does.
    long end = System.nanoTime() + PATIENCE;
    while (silent.accepted() < 2) {
      assertTrue(System.nanoTime() - end < 0, "it was asked only once");
      Thread.onSpinWait();
    }
  }

  @Test
  void aMissingServerIsUnavailable() throws Exception {
    InetSocketAddress nobody;
    try (ServerSocket socket = new ServerSocket(0)) {
      nobody = InetSocketAddress.createUnresolved("localhost", socket.getLocalPort());
    }
    StorageEndpoint endpoint = endpoint(nobody);
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, false, buffer(100), PATIENCE)));
  }

  @Test
  void aLostConnectionIsMadeAgain() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              if (number == 0) {
                peer.take();
                return;
              }
              peer.serve((byte) 5);
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    ByteBuffer target = buffer(200_000);
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, target, PATIENCE)));
    expect((byte) 5, target);
    assertEquals(2, datanode.accepted());
  }

  @Test
  void aDatanodeThatAlwaysHangsUpIsUnavailable() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              peer.take();
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, buffer(100), PATIENCE)));
    assertTrue(datanode.accepted() <= 4, () -> datanode.accepted() + " connections");
  }

  @Test
  void whoseTransferIsGivenUpMayBeginAnotherAtOnce() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              if (number < 2) {
                peer.take();
                return;
              }
              peer.serve((byte) 5);
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    Transfer given = new Transfer();
    BlockingQueue<Transfer> another = new LinkedBlockingQueue<>();
    given.prepare(buffer(100), 0, 100, EXTENT, 0, loop.clock().nanoTime() + PATIENCE);
    endpoint.write(given);
    given.whenComplete(() -> another.add(begin(endpoint, true, buffer(100), PATIENCE)));
    assertEquals(ErrorCode.UNAVAILABLE, end(given));
    Transfer begun = another.poll(60, TimeUnit.SECONDS);
    assertNotNull(begun, "it was not begun");
    assertEquals(ErrorCode.OK, end(begun));
  }

  @Test
  void aWriteThatIsGivenUpTakesItsConnectionAlong() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              if (number == 0) {
                peer.serveOne(peer.take(), (byte) 0);
                try {
                  peer.awaitEnd();
                } finally {
                  ended.countDown();
                }
                return;
              }
              peer.serve((byte) 6);
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, buffer(10), PATIENCE)));
    Transfer abandoned = begin(endpoint, true, buffer(500_000), 4000 * MILLIS);
    ByteBuffer target = buffer(300);
    Transfer innocent = begin(endpoint, false, target, PATIENCE);
    assertEquals(ErrorCode.TIMED_OUT, end(abandoned));
    // The read after it goes over another connection.
    assertEquals(ErrorCode.OK, end(innocent));
    expect((byte) 6, target);
    assertTrue(ended.await(60, TimeUnit.SECONDS), "the connection is still open");
    assertEquals(2, datanode.accepted());
  }

  @Test
  void lateBytesOfAReadAreDropped() throws Exception {
    for (int length : new int[] {100, 60_000, 300_000}) {
      CountDownLatch over = new CountDownLatch(1);
      ScriptedDatanode datanode =
          datanode(
              (number, peer) -> {
                peer.greet();
                peer.serveOne(peer.take(), (byte) 7);
                ByteBuffer request = peer.take();
                byte[] answer =
                    ScriptedDatanode.Peer.frame(
                        Frame.correlationId(request, 0),
                        ErrorCode.OK,
                        ScriptedDatanode.Peer.data(length, (byte) 9));
                // Half of it in time, the rest when the reader has gone.
                int half = answer.length / 2;
                peer.send(java.util.Arrays.copyOf(answer, half));
                assertTrue(over.await(60, TimeUnit.SECONDS));
                peer.send(java.util.Arrays.copyOfRange(answer, half, answer.length));
                peer.serve((byte) 8);
              });
      StorageEndpoint endpoint = endpoint(datanode.address());
      // So that the connection is there and the next request is certainly sent.
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, buffer(10), PATIENCE)));
      ByteBuffer late = buffer(length);
      long began = System.nanoTime();
      assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, late, 300 * MILLIS)));
      if (System.nanoTime() - began > 900 * MILLIS) {
        // On a machine that paused the datanode was silent for too long to be kept.
        over.countDown();
        continue;
      }
      for (int i = 0; i < length; i++) {
        late.put(i, UNTOUCHED);
      }
      over.countDown();
      ByteBuffer target = buffer(length);
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, target, PATIENCE)));
      expect((byte) 8, target);
      expect(UNTOUCHED, late);
      assertEquals(1, datanode.accepted(), "a read that was given up has cost its connection");
    }
  }

  @Test
  void bytesBehindTheDeadlineAreDroppedAlsoBeforeAnybodyLooksAtIt() throws Exception {
    for (int length : new int[] {100, 60_000, 300_000}) {
      ScriptedDatanode datanode =
          datanode(
              (number, peer) -> {
                peer.greet();
                peer.serve((byte) 9);
              });
      StorageEndpoint endpoint = endpoint(datanode.address());
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, buffer(10), PATIENCE)));
      final long began = System.nanoTime();
      ByteBuffer target = buffer(length);
      Transfer late = new Transfer();
      late.prepare(target, 0, length, EXTENT, 0, loop.clock().nanoTime() + 300 * MILLIS);
      Transfer before = new Transfer();
      before.prepare(buffer(10), 0, 10, EXTENT, 0, loop.clock().nanoTime() + PATIENCE);
      // Between the two answers whoever drives the loop is stopped.
      before.whenComplete(
          () -> {
            while (loop.clock().nanoTime() - late.deadlineNanos() < 0) {
              Thread.onSpinWait();
            }
          });
      endpoint.read(before);
      endpoint.read(late);
      assertEquals(ErrorCode.OK, end(before));
      assertEquals(ErrorCode.TIMED_OUT, end(late));
      expect(UNTOUCHED, target);
      ByteBuffer next = buffer(length);
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, next, PATIENCE)));
      expect((byte) 9, next);
      expect(UNTOUCHED, target);
      if (System.nanoTime() - began < 900 * MILLIS) {
        // Else the datanode may have been silent for too long to be kept.
        assertEquals(1, datanode.accepted(), "a read that was given up has cost its connection");
      }
    }
  }

  @Test
  void aDatanodeThatGoesSilentCostsTheConnection() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              if (number == 0) {
                peer.serveOne(peer.take(), (byte) 0);
                peer.awaitEnd();
              }
              peer.serve((byte) 4);
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, buffer(10), PATIENCE)));
    assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, buffer(10), 4000 * MILLIS)));
    ByteBuffer target = buffer(10);
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, target, PATIENCE)));
    expect((byte) 4, target);
    assertEquals(2, datanode.accepted());
  }

  @Test
  void falseAnswersEndTheConnection() throws Exception {
    List<byte[]> lies =
        List.of(
            // An answer to nothing, a wrong length, an answer of another kind, garbage.
            ScriptedDatanode.Peer.frame(99, ErrorCode.OK, ScriptedDatanode.Peer.data(10, (byte) 1)),
            ScriptedDatanode.Peer.frame(1, ErrorCode.OK, ScriptedDatanode.Peer.data(11, (byte) 1)),
            ScriptedDatanode.Peer.frame(1, ErrorCode.OK, ScriptedDatanode.Peer.data(9, (byte) 1)),
            ScriptedDatanode.Peer.frame(1, ErrorCode.OK, new byte[8]),
            ScriptedDatanode.Peer.frame(1, ErrorCode.INTERNAL, new byte[5000]),
            new byte[64]);
    for (byte[] lie : lies) {
      AtomicInteger told = new AtomicInteger();
      ScriptedDatanode datanode =
          datanode(
              (number, peer) -> {
                peer.greet();
                peer.take();
                told.incrementAndGet();
                peer.send(lie);
                peer.awaitEnd();
              });
      StorageEndpoint endpoint = endpoint(datanode.address());
      assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, false, buffer(10), PATIENCE)));
      assertTrue(told.get() >= 1);
      endpoint.close();
    }
  }

  @Test
  void anAnswerBeforeTheDataWereSentIsALie() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              peer.take(100);
              peer.answer(1, ErrorCode.OK, new byte[0]);
              // Takes nothing more, so that the client cannot have sent everything.
              new CountDownLatch(1).await(60, TimeUnit.SECONDS);
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    Transfer transfer = new Transfer();
    ByteBuffer source = ByteBuffer.allocateDirect(64 << 20);
    transfer.prepare(
        source,
        0,
        source.capacity(),
        new Extent(0, source.capacity(), new Place(1, 0, 0, 1)),
        0,
        loop.clock().nanoTime() + PATIENCE);
    endpoint.write(transfer);
    assertEquals(ErrorCode.UNAVAILABLE, end(transfer));
  }

  @Test
  void transfersThatWaitForASlotAreGivenUpToo() throws Exception {
    ScriptedDatanode datanode =
        datanode(
            (number, peer) -> {
              peer.greet();
              peer.awaitEnd();
            });
    StorageEndpoint endpoint = endpoint(datanode.address());
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      transfers.add(begin(endpoint, i % 2 == 0, buffer(1000), 500 * MILLIS));
    }
    for (Transfer transfer : transfers) {
      assertEquals(ErrorCode.TIMED_OUT, end(transfer));
    }
    assertEquals(0, loop.outstanding());
  }

  @Test
  void memoryThatCannotBeReadIntoIsRefused() throws Exception {
    StorageEndpoint endpoint = endpoint(InetSocketAddress.createUnresolved("localhost", 1));
    assertEquals(
        ErrorCode.INVALID_ARGUMENT,
        end(begin(endpoint, false, buffer(10).asReadOnlyBuffer(), PATIENCE)));
  }

  @Test
  void closingTheLoopEndsEverything() throws Exception {
    ScriptedDatanode datanode = datanode((number, peer) -> peer.awaitEnd());
    StorageEndpoint endpoint = endpoint(datanode.address());
    Transfer before = begin(endpoint, true, buffer(10), PATIENCE);
    loop.close();
    assertEquals(ErrorCode.CLOSED, before.failure().code());
    Transfer after = begin(endpoint, true, buffer(10), PATIENCE);
    assertEquals(ErrorCode.CLOSED, after.failure().code());
  }
}
