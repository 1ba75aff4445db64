/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.protocol.NameNodeOperations;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import io.netty.util.LeakPresenceDetector;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the TCP transport promises beyond {@link TransportContract}: raw sockets do no harm, at
 * either end.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
public abstract class TcpTransportContract extends TransportContract implements TcpClientTests {
  /** Deadlines of a server that is to end connections; others have deadlines that never pass. */
  private static final int HANDSHAKE_MILLIS = 400;

  private static final int STALL_MILLIS = 1_500;
  private static final int NEVER_MILLIS = 60_000;
  private static final int CONNECTIONS = 40;
  private static final int OUTPUT_LIMIT = 1 << 20;

  private final NettyKeys.Io io;

  /** For subclasses; {@code io} is what the transport is made of. */
  protected TcpTransportContract(NettyKeys.Io io) {
    this.io = io;
  }

  @BeforeEach
  final void forgetOthersLeaks() {
    if (isLeakDetected()) {
      try {
        LeakPresenceDetector.check();
      } catch (IllegalStateException e) {
        // Another test's, in the same JVM; checking has reset the count.
      }
    }
  }

  /** Runs after everything was closed, for JUnit calls a subclass's method first. */
  @AfterEach
  final void leakNothing() throws Exception {
    closeAll();
    if (isLeakDetected()) {
      LeakPresenceDetector.check();
    }
  }

  private static boolean isLeakDetected() {
    return LeakPresenceDetector.class
        .getName()
        .equals(System.getProperty("io.netty.customResourceLeakDetector"));
  }

  @Override
  protected Transport newTransport() {
    return newTransport(NEVER_MILLIS, NEVER_MILLIS);
  }

  private Transport newTransport(int handshakeMillis, int stallMillis) {
    return new NettyTransport(
        Configuration.builder()
            .set(NettyKeys.IO, io)
            .set(NettyKeys.CORES, 2)
            .set(NettyKeys.OUTPUT_LIMIT, OUTPUT_LIMIT)
            .set(NettyKeys.HANDSHAKE_TIMEOUT, handshakeMillis + "ms")
            .set(NettyKeys.STALL_TIMEOUT, stallMillis + "ms")
            .set(NettyKeys.CONNECTION_LIMIT, CONNECTIONS)
            .build());
  }

  @Override
  protected InetSocketAddress anyAddress() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  /** Netty's entry for what is written, on each side; many calls that go together share it. */
  @Override
  public int bytesOfCall() {
    return 160;
  }

  // Frames as bytes.

  private static byte[] request(int code, int bodyLength, long id) {
    return TcpClientTests.frame(
            Frame.HEADER_LENGTH + bodyLength, code, Frame.VERSION, Frame.KIND_REQUEST, id)
        .array();
  }

  private static Socket open(Transport.ServerEndpoint server) throws IOException {
    Socket socket = new Socket(server.address().getAddress(), server.address().getPort());
    socket.setSoTimeout(60_000);
    return socket;
  }

  /** Reads one whole frame; gives its correlation id. */
  private static long readAnswer(Socket socket, int bodyLength) throws IOException {
    byte[] bytes = new byte[Frame.HEADER_LENGTH + bodyLength];
    new DataInputStream(socket.getInputStream()).readFully(bytes);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(bytes.length, buffer.getInt(0));
    return buffer.getLong(8);
  }

  /** Waits for the other side to hang up. */
  private static void expectEnd(Socket socket) throws IOException {
    try {
      assertEquals(-1, socket.getInputStream().read());
    } catch (SocketException e) {
      // A reset is an end as well.
    }
  }

  @Test
  void closesOnlyTheConnectionOfABadFrame() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer good = newPeer(newLoop(), server);
    List<byte[]> bad = new ArrayList<>();
    int request = Frame.KIND_REQUEST;
    bad.add(TcpClientTests.frame(16, 1, Frame.VERSION + 1, request, 7).array());
    bad.add(TcpClientTests.frame(16, 1, Frame.VERSION, Frame.KIND_RESPONSE, 7).array());
    bad.add(TcpClientTests.frame(15, 1, Frame.VERSION, request, 7).array());
    bad.add(TcpClientTests.frame(0, 1, Frame.VERSION, request, 7).array());
    bad.add(TcpClientTests.frame(-1, 1, Frame.VERSION, request, 7).array());
    bad.add(TcpClientTests.frame(Integer.MIN_VALUE, 1, Frame.VERSION, request, 7).array());
    bad.add(TcpClientTests.frame(Frame.MAX_LENGTH + 1, 1, Frame.VERSION, request, 7).array());
    bad.add("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
    bad.add(new byte[] {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3});
    for (byte[] bytes : bad) {
      try (Socket socket = open(server)) {
        socket.getOutputStream().write(bytes);
        expectEnd(socket);
      }
      echo(good, 100);
    }
    // Behind good frames in the same write, too.
    try (Socket socket = open(server)) {
      ByteBuffer bytes = ByteBuffer.allocate(200);
      bytes.put(request(EchoService.HELLO, 0, 1)).put(request(EchoService.ECHO, 3, 2));
      bytes.put(bad.get(0));
      socket.getOutputStream().write(bytes.array(), 0, bytes.position());
      socket.getInputStream().readAllBytes();
    } catch (SocketException e) {
      // A reset is an end as well.
    }
    echo(good, 100);
    assertEquals(1, good.loop().outstanding() + 1);
  }

  @Test
  void takesFramesInAnyPieces() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (Socket socket = open(newServer())) {
      socket.setTcpNoDelay(true);
      OutputStream out = socket.getOutputStream();
      for (byte one : request(EchoService.HELLO, 3, 1)) {
        out.write(one);
      }
      assertEquals(1, readAnswer(socket, 3));
      ByteBuffer stream = ByteBuffer.allocate(1 << 20);
      List<Integer> lengths = new ArrayList<>();
      while (stream.remaining() > Frame.MAX_LENGTH) {
        int length = random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(300);
        stream.put(request(EchoService.ECHO, length, lengths.size()));
        lengths.add(length);
      }
      Thread writer =
          new Thread(
              () -> {
                try {
                  for (int at = 0; at < stream.position(); ) {
                    int most = random.nextBoolean() ? 40 : 100_000;
                    int piece = 1 + random.nextInt(Math.min(most, stream.position() - at));
                    out.write(stream.array(), at, piece);
                    at += piece;
                  }
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
      writer.start();
      for (int i = 0; i < lengths.size(); i++) {
        assertEquals(i, readAnswer(socket, lengths.get(i)));
      }
      writer.join();
    }
  }

  @Test
  void survivesRandomBytes() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Transport.ServerEndpoint server = newServer();
    RpcPeer good = newPeer(newLoop(), server);
    echo(good, 10);
    for (int i = 0; i < CONNECTIONS - 1; i++) {
      byte[] bytes = new byte[1 + random.nextInt(3000)];
      random.nextBytes(bytes);
      if (random.nextBoolean() && bytes.length > 100) {
        // A good beginning takes the rest further.
        byte[] hello = request(EchoService.HELLO, 0, 1);
        System.arraycopy(hello, 0, bytes, 0, hello.length);
      }
      try (Socket socket = open(server)) {
        socket.getOutputStream().write(bytes);
        if (random.nextBoolean()) {
          socket.setSoLinger(true, 0);
        }
      } catch (SocketException e) {
        // The server hung up first.
      }
    }
    echo(good, 1000);
    eventually("the ends of the others", () -> service().closed() == CONNECTIONS - 1);
    echo(good, 1000);
    assertEquals(CONNECTIONS - 1, service().closed(), "the good one stays");
  }

  @Test
  void closesAConnectionWhoseRequestDoesNotEnd() throws Exception {
    try (Transport strict = newTransport(NEVER_MILLIS, STALL_MILLIS);
        Transport.ServerEndpoint server = strict.listen("contract", anyAddress(), service())) {
      try (Socket idle = open(server);
          Socket half = open(server)) {
        for (Socket socket : List.of(idle, half)) {
          socket.getOutputStream().write(request(EchoService.HELLO, 0, 1));
          assertEquals(1, readAnswer(socket, 0));
        }
        half.getOutputStream().write(request(EchoService.ECHO, 100, 2), 0, 50);
        expectEnd(half);
        idle.getOutputStream().write(request(EchoService.ECHO, 100, 2));
        assertEquals(2, readAnswer(idle, 100));
      }
    }
  }

  @Test
  void closesAConnectionWithoutAHandshake() throws Exception {
    try (Transport strict = newTransport(HANDSHAKE_MILLIS, NEVER_MILLIS);
        Transport.ServerEndpoint server = strict.listen("contract", anyAddress(), service())) {
      try (Socket silent = open(server);
          Socket slow = open(server)) {
        slow.getOutputStream().write(request(EchoService.HELLO, 100, 1), 0, 50);
        expectEnd(silent);
        expectEnd(slow);
      }
      RpcPeer peer = newPeer(newLoop(), server);
      echo(peer, 10);
      // On a busy machine an attempt may have come too late and have been made again.
      int opened = service().opened();
      long end = System.nanoTime() + HANDSHAKE_MILLIS * 2_000_000L;
      eventually("more than the handshake's time", () -> System.nanoTime() - end > 0);
      echo(peer, 10);
      assertEquals(opened, service().opened());
    }
  }

  @Test
  void closesAConnectionThatDoesNotEndItsLogin() throws Exception {
    LoginService service = new LoginService(new CountingLogin(3));
    try (Transport strict = newTransport(HANDSHAKE_MILLIS, NEVER_MILLIS);
        Transport.ServerEndpoint server = strict.listen("contract", anyAddress(), service);
        Socket silent = open(server);
        Socket refused = open(server)) {
      for (Socket socket : List.of(silent, refused)) {
        ByteBuffer hello = LoginTests.hello(CountingLogin.NUMBER);
        if (socket == refused) {
          // A number that does not follow.
          hello.put(hello.capacity() - 1, (byte) 9);
        }
        int length = Frame.HEADER_LENGTH + hello.capacity();
        int opcode = NameNodeOperations.HELLO.number();
        ByteBuffer frame =
            TcpClientTests.frame(length, opcode, Frame.VERSION, Frame.KIND_REQUEST, 1);
        frame.put(Frame.HEADER_LENGTH, hello.array());
        socket.getOutputStream().write(frame.array());
      }
      for (Socket socket : List.of(silent, refused)) {
        assertTrue(socket.getInputStream().readAllBytes().length > 0, "an answer, and the end");
      }
      assertEquals(2, service.served());
    }
  }

  @Test
  void limitsItsConnections() throws Exception {
    Transport.ServerEndpoint server = newServer();
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < CONNECTIONS; i++) {
        Socket socket = open(server);
        sockets.add(socket);
        socket.getOutputStream().write(request(EchoService.HELLO, 0, i));
        assertEquals(i, readAnswer(socket, 0));
      }
      try (Socket surplus = open(server)) {
        expectEnd(surplus);
      }
      sockets.remove(0).close();
      eventually("room for one", () -> service().closed() == 1);
      eventually("a new connection", () -> greets(server));
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static boolean greets(Transport.ServerEndpoint server) {
    try (Socket socket = open(server)) {
      socket.getOutputStream().write(request(EchoService.HELLO, 0, 5));
      return readAnswer(socket, 0) == 5;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void stopsServingAPeerThatDoesNotRead() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer good = newPeer(newLoop(), server);
    int requests = 4_000;
    int answer = 40_000;
    try (Socket greedy = open(server)) {
      ByteBuffer all = ByteBuffer.allocate(requests * 20);
      for (int i = 0; i < requests; i++) {
        byte[] one = request(EchoService.INFLATE, 4, i);
        ByteBuffer.wrap(one).order(ByteOrder.LITTLE_ENDIAN).putInt(16, answer);
        all.put(one);
      }
      greedy.getOutputStream().write(all.array());
      // What the kernel takes, the limit, and one batch.
      eventually("some service", () -> service().served() > 10);
      int before = -1;
      while (before != service().served()) {
        before = service().served();
        echo(good, 100);
        for (int i = 0; i < 50; i++) {
          pass();
        }
        before++;
      }
      assertTrue(service().served() < requests, "served all " + service().served());
      for (int i = 0; i < requests; i++) {
        assertEquals(i, readAnswer(greedy, answer));
      }
    }
  }

  @Test
  void closesAPeerThatNeverReads() throws Exception {
    try (Transport strict = newTransport(NEVER_MILLIS, STALL_MILLIS);
        Transport.ServerEndpoint server = strict.listen("contract", anyAddress(), service())) {
      expectTheEndOfAPeerThatNeverReads(server);
    }
  }

  private void expectTheEndOfAPeerThatNeverReads(Transport.ServerEndpoint server) throws Exception {
    Socket greedy = open(server);
    // A write that blocks ends with its socket only.
    CompletableFuture.delayedExecutor(60, TimeUnit.SECONDS).execute(() -> closeQuietly(greedy));
    OutputStream out = greedy.getOutputStream();
    byte[] one = request(EchoService.INFLATE, 4, 1);
    ByteBuffer.wrap(one).order(ByteOrder.LITTLE_ENDIAN).putInt(16, 60_000);
    assertThrows(
        SocketException.class,
        () -> {
          while (true) {
            out.write(one);
          }
        });
    assertFalse(greedy.isClosed(), "the server must end it, not the test");
    greedy.close();
    eventually("its end", () -> service().closed() == 1);
    echo(newPeer(newLoop(), server), 10);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is only to be gone.
    }
  }
}
