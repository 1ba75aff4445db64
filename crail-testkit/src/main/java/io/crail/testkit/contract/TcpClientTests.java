/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a client over TCP promises beyond other transports: bad servers do it no harm. */
interface TcpClientTests extends TransportBench {
  /** No name: its first part is longer than the 63 bytes of DNS, so no server is ever asked. */
  String NO_HOST = "x".repeat(64) + ".invalid";

  /** A frame of any kind, without a body. */
  static ByteBuffer frame(int length, int code, int version, int kind, long id) {
    ByteBuffer frame = ByteBuffer.allocate(Math.max(16, length)).order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(0, length).putShort(4, (short) code).put(6, (byte) version).put(7, (byte) kind);
    frame.putLong(8, id);
    return frame;
  }

  @Test
  default void refusesAnswersThatAreNone() throws Exception {
    List<byte[]> answers = new ArrayList<>();
    answers.add(frame(Frame.MAX_LENGTH + 1, 0, Frame.VERSION, Frame.KIND_RESPONSE, 1).array());
    answers.add(frame(16, 0, Frame.VERSION, Frame.KIND_REQUEST, 1).array());
    answers.add(frame(-5, 0, Frame.VERSION, Frame.KIND_RESPONSE, 1).array());
    answers.add(frame(16, 0, Frame.VERSION, Frame.KIND_RESPONSE, Long.MAX_VALUE).array());
    answers.add("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
    answers.add(new byte[0]);
    for (byte[] answer : answers) {
      try (ServerSocket impostor = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
        Thread thread = new Thread(() -> answerAll(impostor, answer));
        thread.start();
        RpcPeer peer =
            newPeer(
                newLoop(),
                (InetSocketAddress) impostor.getLocalSocketAddress(),
                new RpcPeer.Options(8, 100, 2, LONG / 4, 1_000_000));
        EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
        call.submit();
        failWith(ErrorCode.UNAVAILABLE, call);
        impostor.close();
        thread.join();
      }
    }
  }

  private static void answerAll(ServerSocket impostor, byte[] answer) {
    while (true) {
      try (Socket socket = impostor.accept()) {
        socket.getInputStream().readNBytes(24);
        socket.getOutputStream().write(answer);
      } catch (IOException e) {
        if (impostor.isClosed()) {
          return;
        }
      }
    }
  }

  @Test
  default void givesUpAtTheDeadlineOfAnAttempt() throws Exception {
    // A full accept queue leaves the next connections without an answer.
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address = (InetSocketAddress) deaf.getLocalSocketAddress();
      RpcPeer peer =
          newPeer(newLoop(), address, new RpcPeer.Options(8, 100, 100, 200_000_000L, 1_000_000));
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), 1_000_000_000L);
      long start = System.nanoTime();
      call.submit();
      failWith(ErrorCode.TIMED_OUT, call);
      assertTrue(System.nanoTime() - start < LONG);
    }
  }

  @Test
  default void resolvesNames() throws Exception {
    Transport.ServerEndpoint server = newServer();
    ClientLoop loop = newLoop();
    InetSocketAddress named =
        InetSocketAddress.createUnresolved("localhost", server.address().getPort());
    echo(newPeer(loop, named), 10);
    EchoCall lost =
        EchoCall.of(
            newPeer(
                loop,
                InetSocketAddress.createUnresolved(NO_HOST, 1),
                new RpcPeer.Options(8, 100, 2, LONG / 4, 1_000_000)),
            EchoService.ECHO,
            pattern(4),
            LONG);
    lost.submit();
    failWith(ErrorCode.UNAVAILABLE, lost);
    assertTrue(lost.failure().getMessage().contains(NO_HOST), lost.failure().getMessage());
  }

  @Test
  default void speaksIpv6() throws Exception {
    InetAddress address = InetAddress.getByName("::1");
    try (ServerSocket probe = new ServerSocket(0, 1, address)) {
      assertTrue(probe.isBound());
    } catch (IOException e) {
      org.junit.jupiter.api.Assumptions.abort("no IPv6 loopback here: " + e.getMessage());
    }
    Transport.ServerEndpoint server = newServer(new InetSocketAddress(address, 0));
    echo(newPeer(newLoop(), server), 100);
    InetSocketAddress literal =
        InetSocketAddress.createUnresolved("::1", server.address().getPort());
    echo(newPeer(newLoop(), literal), 100);
  }

  @Test
  default void takesAnswersByteByByte() throws Exception {
    try (ServerSocket slow = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      byte[] body = pattern(300);
      Thread thread = new Thread(() -> answerSlowly(slow, body));
      thread.start();
      RpcPeer peer = newPeer(newLoop(), (InetSocketAddress) slow.getLocalSocketAddress());
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, body, LONG);
      call.submit();
      assertArrayEquals(body, succeed(call).answer());
      thread.join();
    }
  }

  private static void answerSlowly(ServerSocket listener, byte[] body) {
    try (Socket socket = listener.accept()) {
      socket.setTcpNoDelay(true);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      for (int bodyLength : new int[] {8, body.length}) {
        byte[] request = new byte[Frame.HEADER_LENGTH + bodyLength];
        in.readFully(request);
        request[4] = 0;
        request[7] = Frame.KIND_RESPONSE;
        for (byte one : request) {
          socket.getOutputStream().write(one);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
