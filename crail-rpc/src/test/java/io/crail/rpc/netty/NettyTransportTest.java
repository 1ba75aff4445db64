/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.loop.Completion;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import io.netty.util.LeakPresenceDetector;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the effects of the configuration, and the TCP transport's services for other protocols. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class NettyTransportTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final long LONG = 60_000_000_000L;

  @AfterEach
  void leakNothing() {
    LeakPresenceDetector.check();
  }

  private static Configuration.Builder values(NettyKeys.Io io) {
    return Configuration.builder().set(NettyKeys.IO, io).set(NettyKeys.CORES, 1);
  }

  private static List<NettyKeys.Io> available() {
    List<NettyKeys.Io> all = new ArrayList<>(List.of(NettyKeys.Io.AUTO, NettyKeys.Io.NIO));
    if (Epoll.isAvailable()) {
      all.add(NettyKeys.Io.EPOLL);
    }
    if (IoUring.isAvailable()) {
      all.add(NettyKeys.Io.IO_URING);
    }
    return all;
  }

  /** Answers with the request's body, and notes how requests came. */
  private static final class Echo implements Service {
    private volatile int calls;
    private volatile int requests;

    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        int length = batch.bodyLength(i);
        int body = responses.begin(length);
        responses.buffer().put(body, batch.buffer(), batch.bodyOffset(i), length);
        responses.end(batch.correlationId(i), length);
      }
      calls++;
      requests += batch.count();
    }
  }

  private static final class Call extends RpcCall {
    Call(RpcPeer peer) {
      prepare(peer, peer.loop().clock().nanoTime() + LONG);
    }

    @Override
    protected int opcode() {
      return 1;
    }

    @Override
    protected boolean changes() {
      return false;
    }

    @Override
    protected int bodyLength() {
      return 32;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putLong(offset, 77);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      assertEquals(77, in.getLong(offset));
    }
  }

  private static void roundTrips(Transport transport, int count) throws Exception {
    try (Transport.ServerEndpoint server = transport.listen("test", ANY, new Echo());
        io.crail.rpc.ClientLoop loop = transport.newClientLoop("test")) {
      RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
      for (int i = 0; i < count; i++) {
        Call call = new Call(peer);
        call.submit();
        assertTrue(loop.await(call, System.nanoTime() + LONG));
        assertEquals(null, call.failure());
      }
    }
  }

  @Test
  void drivesClientsAsAskedFor() throws Exception {
    for (WaitKeys.Driver driver : WaitKeys.Driver.values()) {
      Configuration configuration =
          values(NettyKeys.Io.NIO).set(WaitKeys.CLIENT_DRIVER, driver).build();
      try (NettyTransport transport = new NettyTransport(configuration);
          Transport.ServerEndpoint server = transport.listen("test", ANY, new Echo());
          io.crail.rpc.ClientLoop loop = transport.newClientLoop("test")) {
        RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
        Call call = new Call(peer);
        Thread[] ran = new Thread[1];
        call.whenComplete(() -> ran[0] = Thread.currentThread());
        call.submit();
        assertTrue(loop.await(call, System.nanoTime() + LONG));
        if (driver == WaitKeys.Driver.THREAD) {
          assertNotSame(Thread.currentThread(), ran[0]);
          assertFalse(loop.pollOnce(), "only its thread drives it");
        }
      }
    }
  }

  /** Otherwise the first call after a pause would wait for the helper's next look. */
  @Test
  void anOwnLoopIsDrivenByItsThreadFromTheStart() throws Exception {
    try (Transport transport = new NettyTransport(values(NettyKeys.Io.NIO).build());
        io.crail.rpc.ClientLoop loop = transport.newOwnLoop("own")) {
      assertFalse(loop.pollOnce());
      CompletableFuture<Thread> ran = new CompletableFuture<>();
      loop.submit(() -> ran.complete(Thread.currentThread()));
      assertNotSame(Thread.currentThread(), ran.get(LONG, TimeUnit.NANOSECONDS));
    }
  }

  @Test
  void isFoundByItsName() throws Exception {
    Configuration configuration =
        Configuration.builder().set(TransportProvider.RPC_TYPE, "tcp").build();
    try (Transport transport = TransportProvider.open(configuration)) {
      assertSame(NettyTransport.class, transport.getClass());
      roundTrips(transport, 10);
    }
  }

  @Test
  void worksWithEveryWayToWait() throws Exception {
    for (NettyKeys.Io io : available()) {
      for (String spinTime : List.of("0", "50", "always")) {
        if (io == NettyKeys.Io.IO_URING && spinTime.equals("always")) {
          continue;
        }
        Configuration configuration = values(io).set(WaitKeys.SPIN_TIME, spinTime).build();
        try (Transport transport = new NettyTransport(configuration)) {
          roundTrips(transport, 20);
        }
      }
    }
  }

  @Test
  void refusesWhatIsNotAvailable() throws Exception {
    ConfigException refusal =
        assertThrows(
            ConfigException.class,
            () ->
                IoBackend.available(
                    IoBackend.EPOLL,
                    new IllegalStateException(new UnsatisfiedLinkError("no library"))));
    assertTrue(refusal.getMessage().contains("crail.tcp.io"), refusal.getMessage());
    assertTrue(refusal.getMessage().contains("no library"), refusal.getMessage());
    assertSame(IoBackend.EPOLL, IoBackend.available(IoBackend.EPOLL, null));
    if (IoUring.isAvailable()) {
      Configuration spinning =
          values(NettyKeys.Io.IO_URING).set(WaitKeys.SPIN_TIME, "always").build();
      try (Transport transport = new NettyTransport(spinning)) {
        assertThrows(ConfigException.class, () -> transport.listen("test", ANY, new Echo()));
      }
    }
  }

  @Test
  void servesWhatComesTogetherTogether() throws Exception {
    for (NettyKeys.Io io : available()) {
      Echo echo = new Echo();
      try (Transport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, echo);
          io.crail.rpc.ClientLoop loop = transport.newClientLoop("test")) {
        RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
        Call first = new Call(peer);
        first.submit();
        loop.await(first, System.nanoTime() + LONG);
        for (int round = 0; round < 10; round++) {
          int calls = echo.calls;
          Call[] many = new Call[128];
          for (int i = 0; i < many.length; i++) {
            many[i] = new Call(peer);
          }
          loop.submit(
              () -> {
                for (Call call : many) {
                  call.submit();
                }
              });
          for (Call call : many) {
            assertTrue(loop.await(call, System.nanoTime() + LONG));
          }
          assertTrue(echo.calls - calls <= 4, io + ": " + (echo.calls - calls) + " batches");
        }
        assertEquals(2 + 1280, echo.requests);
      }
    }
  }

  /** The client works on the first answers while the server works on the other requests. */
  @Test
  void answersSomeOfManyBeforeItServesTheRest() throws Exception {
    List<NettyKeys.Io> sendingAtOnce = available();
    // Hands to the kernel only what a whole turn of its loop has written.
    sendingAtOnce.remove(NettyKeys.Io.IO_URING);
    for (NettyKeys.Io io : sendingAtOnce) {
      CountDownLatch answered = new CountDownLatch(1);
      AtomicBoolean inTime = new AtomicBoolean(true);
      Echo echo = new Echo();
      Service waiting =
          (batch, responses) -> {
            if (echo.requests > 0) {
              inTime.compareAndSet(true, await(answered));
            }
            echo.serve(batch, responses);
          };
      try (Transport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, waiting);
          Socket client = new Socket(server.address().getAddress(), server.address().getPort())) {
        int length = Frame.HEADER_LENGTH + 8;
        ByteBuffer requests =
            ByteBuffer.allocate(2 * RequestBatch.TOGETHER * length).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 2 * RequestBatch.TOGETHER; i++) {
          Frame.write(requests, i * length, length, 1, Frame.KIND_REQUEST, i + 1);
        }
        client.getOutputStream().write(requests.array());
        int half = RequestBatch.TOGETHER * length;
        assertEquals(half, client.getInputStream().readNBytes(half).length);
        answered.countDown();
        assertEquals(half, client.getInputStream().readNBytes(half).length);
        assertTrue(inTime.get() && echo.calls > 1, io + " answers all at once");
      }
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void setsTheOptionsOfItsSockets() throws Exception {
    for (NettyKeys.Io io : available()) {
      Configuration configuration =
          values(io)
              .set(NettyKeys.SEND_BUFFER, "100k")
              .set(NettyKeys.RECEIVE_BUFFER, "90k")
              .build();
      try (NettyTransport transport = new NettyTransport(configuration);
          ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
          NettyClientLoop loop = (NettyClientLoop) transport.newClientLoop("test")) {
        Dialed dialed = new Dialed();
        loop.submit(
            () ->
                loop.connect(
                    (InetSocketAddress) listener.getLocalSocketAddress(),
                    System.nanoTime() + LONG,
                    new Reverser(dialed),
                    dialed));
        assertTrue(loop.await(dialed, System.nanoTime() + LONG));
        Channel channel = dialed.channel;
        assertTrue(channel.config().getOption(ChannelOption.TCP_NODELAY));
        assertTrue(channel.config().getOption(ChannelOption.SO_KEEPALIVE));
        assertTrue(channel.config().getOption(ChannelOption.SO_SNDBUF) >= 100 << 10);
        assertTrue(channel.config().getOption(ChannelOption.SO_RCVBUF) >= 90 << 10);
        IoBackend.of(io)
            .keepAlive()
            .forEach((option, value) -> assertEquals(value, channel.config().getOption(option)));
      }
    }
  }

  /** Another protocol on the same loop: its handlers run in the thread that waits. */
  @Test
  void letsAnotherProtocolUseTheLoop() throws Exception {
    for (NettyKeys.Io io : available()) {
      try (NettyTransport transport = new NettyTransport(values(io).build());
          ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
          NettyClientLoop loop = (NettyClientLoop) transport.newClientLoop("test")) {
        Thread peer = new Thread(() -> sayHello(listener));
        peer.start();
        Dialed dialed = new Dialed();
        loop.operationBegun();
        loop.submit(
            () ->
                loop.connect(
                    InetSocketAddress.createUnresolved("localhost", listener.getLocalPort()),
                    System.nanoTime() + LONG,
                    new Reverser(dialed),
                    dialed));
        assertTrue(loop.await(dialed, System.nanoTime() + LONG));
        assertNotNull(dialed.channel);
        assertSame(loop.eventLoop(), dialed.channel.eventLoop());
        assertTrue(loop.await(dialed.greeting, System.nanoTime() + LONG));
        assertEquals("hello", dialed.text);
        loop.submit(() -> dialed.channel.close());
        peer.join();
        loop.operationEnded();
      }
    }
  }

  private static void sayHello(ServerSocket listener) {
    try (Socket socket = listener.accept()) {
      socket.getOutputStream().write("hello".getBytes());
      assertEquals(-1, socket.getInputStream().read());
    } catch (java.io.IOException e) {
      // The loop was closed first.
    }
  }

  private static final class Event extends Completion {
    void happen() {
      succeed();
    }
  }

  private static final class Dialed extends Completion implements Dialer.Listener {
    private final Event greeting = new Event();
    private Channel channel;
    private String text = "";

    @Override
    public void connected(Channel newChannel) {
      channel = newChannel;
      succeed();
    }

    @Override
    public void failed(String cause) {
      text = cause;
      succeed();
    }
  }

  private static final class Reverser extends ChannelInitializer<Channel> {
    private final Dialed dialed;

    Reverser(Dialed dialed) {
      this.dialed = dialed;
    }

    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(
              new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                  assertTrue(context.channel().eventLoop().inEventLoop());
                  dialed.text += bytes.toString(java.nio.charset.StandardCharsets.US_ASCII);
                  if (dialed.text.length() == 5) {
                    dialed.greeting.happen();
                  }
                }
              });
    }
  }

  @Test
  void aLoopMayEndBeforeItHasBegun() throws Exception {
    for (NettyKeys.Io io : available()) {
      try (NettyTransport transport = new NettyTransport(values(io).build())) {
        for (int i = 0; i < 50; i++) {
          NettyClientLoop loop = (NettyClientLoop) transport.newClientLoop("test");
          loop.close();
          assertTrue(loop.eventLoop().isTerminated(), io + " did not end cleanly");
        }
      }
    }
  }

  @Test
  void reportsAFailedAttemptOnce() throws Exception {
    try (NettyTransport transport = new NettyTransport(values(NettyKeys.Io.AUTO).build());
        NettyClientLoop loop = (NettyClientLoop) transport.newClientLoop("test")) {
      int port;
      try (ServerSocket gone = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
        port = gone.getLocalPort();
      }
      Dialed dialed = new Dialed();
      loop.submit(
          () ->
              loop.connect(
                  InetSocketAddress.createUnresolved("localhost", port),
                  System.nanoTime() + LONG,
                  new Reverser(dialed),
                  dialed));
      assertTrue(loop.await(dialed, System.nanoTime() + LONG));
      assertEquals(null, dialed.channel);
      assertTrue(dialed.text.contains("refused"), dialed.text);
    }
  }

  @Test
  void namesItsThreadsAndEndsThem() throws Exception {
    Set<String> before = crailThreads();
    Configuration configuration =
        Configuration.builder()
            .set(NettyKeys.IO, NettyKeys.Io.AUTO)
            .set(NettyKeys.CORES, 3)
            .build();
    try (Transport transport = new NettyTransport(configuration)) {
      try (Transport.ServerEndpoint server = transport.listen("namenode", ANY, new Echo());
          io.crail.rpc.ClientLoop loop = transport.newClientLoop("client")) {
        InetSocketAddress named =
            InetSocketAddress.createUnresolved("localhost", server.address().getPort());
        RpcPeer peer = new RpcPeer(loop, named, Call::new, RpcPeer.Options.defaults());
        Call call = new Call(peer);
        call.submit();
        assertTrue(loop.await(call, System.nanoTime() + LONG));
        Set<String> during = crailThreads();
        during.removeAll(before);
        assertTrue(during.contains("crail-client"), during.toString());
        assertTrue(during.contains("crail-namenode-0"), during.toString());
        assertFalse(during.stream().anyMatch(name -> !name.startsWith("crail-")));
      }
    }
    long end = System.nanoTime() + LONG;
    Set<String> left = crailThreads();
    left.removeAll(before);
    while (!left.isEmpty()) {
      assertTrue(System.nanoTime() - end < 0, "still there: " + left);
      Thread.sleep(5);
      left.retainAll(crailThreads());
    }
  }

  private static Set<String> crailThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("crail") || name.contains("EventLoop"))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
