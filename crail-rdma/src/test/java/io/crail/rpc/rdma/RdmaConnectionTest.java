/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.netty.NettyTransport;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Connections, messages and their ends, over the two devices of the test machine. */
@Tag("rdma")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RdmaConnectionTest {
  private static final String SERVER = System.getProperty("crail.test.rdma.server", "10.9.0.2");
  private static final long LONG = 60_000_000_000L;
  private static final QueuePair.Options OPTIONS = new QueuePair.Options(8, 8, 1, 64, 4);
  private static final int MESSAGE = 256;

  private NettyTransport transport;
  private ClientLoop loop;
  private EchoServer server;

  @BeforeEach
  void open() throws Exception {
    transport = new NettyTransport(Configuration.builder().build());
    loop = transport.newClientLoop("test");
    server = new EchoServer(new InetSocketAddress(address(SERVER), 0));
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
    transport.close();
    server.close();
  }

  private static InetAddress address(String text) throws UnknownHostException {
    return InetAddress.getByName(text);
  }

  /** Memory for messages: receives first, then sends, with a request for each. */
  private static final class Messages {
    private final ByteBuffer memory =
        ByteBuffer.allocateDirect(2 * 8 * MESSAGE).order(ByteOrder.nativeOrder());
    private final ByteBuffer requests =
        ByteBuffer.allocateDirect(8 * (Layouts.SEND_WR_SIZE + Layouts.SGE_SIZE))
            .order(ByteOrder.nativeOrder());
    private final RegisteredMemory registered;
    private final QueuePair pair;

    Messages(QueuePair pair) {
      this.pair = pair;
      try {
        registered = pair.device().register(memory, Layouts.ACCESS_LOCAL_WRITE);
      } catch (RdmaException e) {
        throw new IllegalStateException(e);
      }
    }

    void receive(int slot) {
      int at = Layouts.SEND_WR_SIZE;
      requests.putLong(Layouts.WR_ID, pair.wrId(slot)).putLong(Layouts.WR_NEXT, 0);
      requests.putLong(Layouts.WR_SGES, Verbs.addressOf(requests) + at);
      requests.putInt(Layouts.WR_SGE_COUNT, 1);
      requests.putLong(at + Layouts.SGE_ADDRESS, registered.address() + slot * MESSAGE);
      requests.putInt(at + Layouts.SGE_LENGTH, MESSAGE);
      requests.putInt(at + Layouts.SGE_LKEY, registered.lkey());
      assertEquals(0, pair.postReceive(Verbs.addressOf(requests)));
    }

    void send(int slot, byte[] bytes) {
      int at = Layouts.SEND_WR_SIZE;
      memory.put((8 + slot) * MESSAGE, bytes);
      requests.putLong(Layouts.WR_ID, pair.wrId(100 + slot)).putLong(Layouts.WR_NEXT, 0);
      requests.putLong(Layouts.WR_SGES, Verbs.addressOf(requests) + at);
      requests.putInt(Layouts.WR_SGE_COUNT, 1);
      requests.putInt(Layouts.SEND_WR_OPCODE, Layouts.OPCODE_SEND);
      requests.putInt(Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
      requests.putLong(at + Layouts.SGE_ADDRESS, registered.address() + (8 + slot) * MESSAGE);
      requests.putInt(at + Layouts.SGE_LENGTH, bytes.length);
      requests.putInt(at + Layouts.SGE_LKEY, registered.lkey());
      assertEquals(0, pair.post(Verbs.addressOf(requests)));
    }

    byte[] received(int slot, int length) {
      byte[] bytes = new byte[length];
      memory.get(slot * MESSAGE, bytes);
      return bytes;
    }
  }

  /** Few, so that more requests complete at once than one poll takes. */
  private static final int POLL_SIZE = 3;

  /** Sends back what it receives, or refuses. */
  private static final class EchoServer implements AutoCloseable {
    private final RdmaDevices devices = new RdmaDevices();
    private final RdmaQueues queues = new RdmaQueues(devices, 1024, POLL_SIZE, descriptor -> {});
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<String> ends = new ArrayList<>();
    private final AtomicInteger open = new AtomicInteger();
    private final RdmaListener listener;
    private final Thread thread;
    private volatile ByteBuffer refusal;
    private volatile ByteBuffer asked;
    private volatile boolean answers = true;
    private volatile boolean stop;

    EchoServer(InetSocketAddress address) throws IOException {
      listener = RdmaListener.listen("echo", address, 16, 16, this::requested);
      thread = new Thread(this::run, "echo");
      thread.start();
    }

    private void run() {
      while (!stop) {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        if (queues.poll() == 0) {
          Verbs.yieldProcessor();
        }
      }
      queues.close();
    }

    private void requested(RdmaListener.Request request) {
      asked = request.privateData();
      if (refusal != null) {
        request.reject(refusal);
      } else if (answers) {
        tasks.add(() -> accept(request));
      }
    }

    private void accept(RdmaListener.Request request) {
      try {
        request.accept(queues, OPTIONS, Echo::new, text("welcome"), tasks::add);
      } catch (IOException e) {
        ends.add(e.getMessage());
      }
    }

    private final class Echo implements QueuePair.Handler {
      private final Messages messages;

      Echo(QueuePair pair) {
        messages = new Messages(pair);
        for (int i = 0; i < 8; i++) {
          messages.receive(i);
        }
        open.incrementAndGet();
      }

      @Override
      public void completed(int request, int opcode, int bytes) {
        if (opcode == Layouts.WC_OPCODE_RECV) {
          messages.send(request, messages.received(request, bytes));
          messages.receive(request);
        }
      }

      @Override
      public void failed(int request, int status, String text) {}

      @Override
      public void closed(String cause) {
        messages.registered.close();
        synchronized (ends) {
          ends.add(cause);
        }
        open.decrementAndGet();
      }
    }

    @Override
    public void close() throws InterruptedException {
      stop = true;
      thread.join();
      listener.close();
      devices.close();
    }
  }

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String text(ByteBuffer data) {
    byte[] bytes = new byte[data.remaining()];
    data.duplicate().get(bytes);
    return new String(bytes, StandardCharsets.US_ASCII).replace("\0", "");
  }

  /** A client that sends one message after the other and compares the answers. */
  private final class Client extends Completion
      implements RdmaLoop.ConnectListener, QueuePair.Handler {
    private final int rounds;
    private Messages messages;
    private QueuePair pair;
    private RdmaLoop rdma;
    private int done;
    private String peerData;
    private boolean connected;
    private String failure;
    private String end;
    private String refusal;

    Client(int rounds) {
      this.rounds = rounds;
    }

    Client connect(InetSocketAddress to, long timeoutNanos) {
      loop.operationBegun();
      loop.submit(
          () -> {
            try {
              rdma = RdmaLoop.of(loop, new RdmaSettings(0, 256, 7, 16));
            } catch (io.crail.common.error.CrailException e) {
              throw new IllegalStateException(e);
            }
            rdma.begun();
            rdma.connect(to, loop.clock().nanoTime() + timeoutNanos, OPTIONS, text("hello"), this);
          });
      return this;
    }

    Client await() throws InterruptedException {
      assertTrue(loop.await(this, System.nanoTime() + LONG), "neither connected nor failed");
      return this;
    }

    private void finish() {
      if (!isComplete()) {
        rdma.ended();
        loop.operationEnded();
        succeed();
      }
    }

    @Override
    public QueuePair.Handler created(QueuePair newPair) {
      pair = newPair;
      messages = new Messages(newPair);
      for (int i = 0; i < 8; i++) {
        messages.receive(i);
      }
      return this;
    }

    @Override
    public void connected(QueuePair newPair, ByteBuffer data) {
      connected = true;
      peerData = text(data);
      if (rounds == 0) {
        finish();
      } else {
        messages.send(0, bytes());
      }
    }

    private byte[] bytes() {
      return ("message " + done).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void failed(String cause, ByteBuffer data) {
      failure = cause;
      refusal = data == null ? null : text(data);
      finish();
    }

    @Override
    public void completed(int request, int opcode, int length) {
      if (opcode != Layouts.WC_OPCODE_RECV) {
        return;
      }
      assertEquals(
          new String(bytes(), StandardCharsets.US_ASCII),
          new String(messages.received(request, length), StandardCharsets.US_ASCII));
      messages.receive(request);
      if (++done == rounds) {
        finish();
      } else {
        messages.send(0, bytes());
      }
    }

    @Override
    public void failed(int request, int status, String text) {
      failure = text;
    }

    @Override
    public void closed(String cause) {
      messages.registered.close();
      end = cause;
      // An attempt that fails learns of it after this.
      if (connected) {
        finish();
      }
    }
  }

  private void until(java.util.function.BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + LONG;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not in time");
      loop.pollOnce();
      Thread.sleep(1);
    }
  }

  @Test
  void messagesGoThereAndBack() throws Exception {
    Client client = new Client(200).connect(server.listener.address(), LONG).await();
    assertNull(client.failure);
    assertEquals(200, client.done);
    assertEquals("hello", text(server.asked));
    assertEquals("welcome", client.peerData);
    loop.submit(() -> client.pair.close("enough"));
    assertEquals("enough", client.end);
    until(() -> server.open.get() == 0);
    assertEquals(List.of("closed by the peer"), server.ends);
  }

  @Test
  void manyConnectionsShareOneQueueUntilItIsFull() throws Exception {
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      clients.add(new Client(5).connect(server.listener.address(), LONG));
    }
    for (Client client : clients) {
      assertNull(client.await().failure);
    }
    // Devices round up the requested size, so that only one of the next clients has no room.
    Client last = new Client(0);
    for (int i = 0; i < 64 && last.failure == null; i++) {
      last = new Client(0).connect(server.listener.address(), LONG).await();
    }
    assertTrue(last.failure.contains("completion queue"), last.failure);
    // A closed queue pair makes room.
    loop.submit(() -> clients.get(0).pair.close("room"));
    Client after = new Client(3).connect(server.listener.address(), LONG).await();
    assertNull(after.failure);
  }

  @Test
  void aRefusalHasItsReason() throws Exception {
    server.refusal = text("not today");
    Client client = new Client(1).connect(server.listener.address(), LONG).await();
    assertTrue(client.failure.contains("refused by the peer"), client.failure);
    assertEquals("not today", client.refusal);
    assertNotNull(client.end, "its queue pair is closed");
  }

  @Test
  void withoutAServer() throws Exception {
    Client client = new Client(1).connect(new InetSocketAddress(SERVER, 9), LONG).await();
    assertTrue(client.failure.contains("no program listens"), client.failure);
  }

  @Test
  void anAddressWithoutADevice() throws Exception {
    Client client = new Client(1).connect(new InetSocketAddress("127.0.0.1", 9), LONG).await();
    assertNotNull(client.failure);
    assertFalse(client.failure.contains("in time"), client.failure);
    assertThrows(
        IOException.class,
        () -> RdmaListener.listen("x", new InetSocketAddress("127.0.0.1", 0), 1, 16, r -> {}));
  }

  @Test
  void aNameThatDoesNotExist() throws Exception {
    Client client =
        new Client(1)
            .connect(InetSocketAddress.createUnresolved("x".repeat(64) + ".invalid", 9), LONG)
            .await();
    assertTrue(client.failure.contains("unknown host"), client.failure);
  }

  @Test
  void aServerThatDoesNotAnswerIsGivenUpInTime() throws Exception {
    server.answers = false;
    Client client = new Client(1).connect(server.listener.address(), 500_000_000).await();
    assertTrue(client.failure.contains("in time"), client.failure);
  }

  @Test
  void theEndOfTheServerEndsTheConnection() throws Exception {
    Client client = new Client(3).connect(server.listener.address(), LONG).await();
    assertNull(client.failure);
    server.close();
    until(() -> client.end != null);
    server = new EchoServer(server.listener.address());
    Client again = new Client(3).connect(server.listener.address(), LONG).await();
    assertNull(again.failure);
  }

  @Test
  void aTakenPortIsNamed() {
    IOException taken =
        assertThrows(
            IOException.class,
            () -> RdmaListener.listen("x", server.listener.address(), 1, 16, request -> {}));
    assertTrue(
        taken.getMessage().contains(String.valueOf(server.listener.address().getPort())),
        taken.getMessage());
  }

  @Test
  void theWildcardAddressMeansAllDevices() throws Exception {
    try (EchoServer everywhere = new EchoServer(new InetSocketAddress(address("0.0.0.0"), 0))) {
      int port = everywhere.listener.address().getPort();
      List<String> hosts =
          SERVER.equals("10.9.0.2") ? List.of("10.9.0.1", SERVER) : List.of(SERVER);
      for (String host : hosts) {
        Client client = new Client(3).connect(new InetSocketAddress(host, port), LONG).await();
        assertNull(client.failure);
      }
    }
  }

  @Test
  @DisabledIfSystemProperty(
      named = "crail.test.rdma.device",
      matches = ".*",
      disabledReason = "needs the two hosts of bin/rdma-vm")
  void anAddressBelongsToOnePort() throws Exception {
    for (String host : new String[] {"10.9.0.", "fd00:9::"}) {
      for (int i = 0; i < 2; i++) {
        InetAddress own = address(host + (1 + i));
        PortCheck port = new PortCheck(Verbs.device("rxe" + i), 1, own);
        port.checkGid();
        assertEquals("", port.mtuWarning());
        String other = "rxe" + (1 - i);
        PortCheck wrong = new PortCheck(Verbs.device(other), 1, own);
        String text = assertThrows(RdmaException.class, wrong::checkGid).getMessage();
        assertTrue(text.contains("port 1 of device " + other + " has no GID"), text);
        assertTrue(text.contains(own.getHostAddress()), text);
      }
    }
  }
}
