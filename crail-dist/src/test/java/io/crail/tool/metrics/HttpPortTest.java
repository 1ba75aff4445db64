/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The port that serves metrics, with clients that do not behave. */
class HttpPortTest {
  private static final int PATIENCE_MILLIS = 30_000;
  private static final List<InetSocketAddress> ANY = MetricsKeys.candidates("127.0.0.1:0");

  private final CountDownLatch stuck = new CountDownLatch(1);
  private final List<Socket> sockets = new ArrayList<>();
  private HttpPort port;

  @BeforeEach
  void open() throws IOException {
    port =
        HttpPort.open(
            ANY,
            Map.of(
                "/health",
                    request -> HttpPort.Answer.text(200, "alive " + request.header("accept")),
                "/large", request -> new HttpPort.Answer(200, "text/plain", new byte[64 << 20]),
                "/bug",
                    request -> {
                      throw new IllegalStateException("a bug");
                    },
                "/memory",
                    request -> {
                      throw new OutOfMemoryError("of a page");
                    },
                "/stuck", request -> waitForTheEnd()));
  }

  private HttpPort.Answer waitForTheEnd() throws IOException {
    try {
      return HttpPort.Answer.text(
          stuck.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS) ? 200 : 500, "");
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @AfterEach
  void close() throws IOException {
    stuck.countDown();
    for (Socket socket : sockets) {
      socket.close();
    }
    port.close();
  }

  private Socket send(String request) throws IOException {
    Socket socket = new Socket("127.0.0.1", port.address().getPort());
    sockets.add(socket);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private String ask(String request) throws IOException {
    return new String(send(request).getInputStream().readAllBytes(), UTF_8);
  }

  private void assertAlive() throws IOException {
    String answer = ask("GET /health?a=b HTTP/1.1\r\nAccept: text\r\n\r\n");
    assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
    assertTrue(answer.endsWith("\r\n\r\nalive text\n"), answer);
  }

  @Test
  void answersWithStatusAndText() throws IOException {
    assertAlive();
    assertTrue(ask("HEAD /health HTTP/1.1\r\n\r\n").endsWith("close\r\n\r\n"));
    assertTrue(ask("GET /nothing HTTP/1.1\r\n\r\n").startsWith("HTTP/1.1 404 "));
    assertTrue(ask("POST /health HTTP/1.1\r\n\r\n").startsWith("HTTP/1.1 405 "));
    assertTrue(ask("GET /bug HTTP/1.1\r\n\r\n").startsWith("HTTP/1.1 500 "));
    assertTrue(ask("GET /memory HTTP/1.1\r\n\r\n").startsWith("HTTP/1.1 500 "));
  }

  @Test
  void refusesGarbage() throws IOException {
    for (String garbage : List.of("\0\1\2\r\n\r\n", "\n\n", "GET\r\n\r\n", "GET /health\r\n\r\n")) {
      assertTrue(ask(garbage).startsWith("HTTP/1.1 400 "), garbage);
    }
    assertTrue(ask("x".repeat(8192)).startsWith("HTTP/1.1 431 "));
    send("GET /hea").close();
    assertAlive();
  }

  @Test
  void clientsThatSendNothingDelayNoOther() throws IOException {
    for (int i = 0; i < 5 * HttpPort.MOST_CONNECTIONS; i++) {
      send("GET /health HTTP/1.1\r\n");
      assertAlive();
    }
    // The oldest ones were closed for newer ones.
    assertEquals(-1, sockets.get(0).getInputStream().read());
  }

  @Test
  void clientsThatReadNothingDelayNoOther() throws IOException {
    for (int i = 0; i < 3; i++) {
      send("GET /large HTTP/1.1\r\n\r\n");
      assertAlive();
    }
  }

  @Test
  void pagesThatWaitDelayNoOther() throws IOException {
    for (int i = 0; i < 2 * HttpPort.MOST_CONNECTIONS; i++) {
      send("GET /stuck HTTP/1.1\r\n\r\n");
      assertAlive();
    }
  }

  /** A listener whose first connection comes as a test wants. */
  private abstract static class Listener extends ServerSocket {
    private boolean had;

    Listener() throws IOException {
      super(0, 0, InetAddress.getLoopbackAddress());
    }

    /** Called when the first connection is there, before the port has it. */
    abstract void accepted() throws IOException;

    @Override
    public Socket accept() throws IOException {
      Socket socket = super.accept();
      if (!had) {
        had = true;
        accepted();
      }
      return socket;
    }
  }

  @Test
  void aConnectionThatComesDuringTheCloseEndsToo() throws Exception {
    CountDownLatch there = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Listener listener =
        new Listener() {
          @Override
          void accepted() throws IOException {
            there.countDown();
            try {
              assertTrue(closed.await(60, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }

          @Override
          public void close() throws IOException {
            super.close();
            closed.countDown();
          }
        };
    HttpPort closing = HttpPort.open(listener, Map.of());
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort())) {
      // Less than what an overdue connection has.
      client.setSoTimeout(5_000);
      assertTrue(there.await(60, TimeUnit.SECONDS));
      closing.close();
      assertEquals(-1, client.getInputStream().read());
    }
  }

  @Test
  void itAcceptsAfterAnError() throws Exception {
    Listener listener =
        new Listener() {
          @Override
          void accepted() {
            throw new AssertionError("one of the test");
          }
        };
    try (HttpPort failing = HttpPort.open(listener, Map.of())) {
      for (int i = 0; i < 2; i++) {
        try (Socket client =
            new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort())) {
          client.setSoTimeout(PATIENCE_MILLIS);
          if (i == 1) {
            client.getOutputStream().write("GET /x HTTP/1.1\r\n\r\n".getBytes(UTF_8));
            String answer = new String(client.getInputStream().readAllBytes(), UTF_8);
            assertTrue(answer.startsWith("HTTP/1.1 404 "), answer);
          }
        }
      }
      assertEquals(listener.getLocalPort(), failing.address().getPort());
    }
  }

  @Test
  void takesTheFirstFreePort() throws IOException {
    InetSocketAddress taken =
        InetSocketAddress.createUnresolved("127.0.0.1", port.address().getPort());
    try (HttpPort other = HttpPort.open(List.of(taken, ANY.get(0)), Map.of())) {
      assertTrue(other.address().getPort() != taken.getPort());
    }
    IOException refusal =
        assertThrows(IOException.class, () -> HttpPort.open(List.of(taken), Map.of()));
    assertTrue(refusal.getMessage().contains("crail.metrics.address"), refusal.getMessage());
  }

  @Test
  void rangesOfPorts() {
    assertEquals(List.of(), MetricsKeys.candidates(""));
    assertEquals(
        List.of(9070, 9071, 9072),
        MetricsKeys.candidates("[::1]:9070-9072").stream()
            .map(InetSocketAddress::getPort)
            .toList());
    for (String bad : List.of("host", "host:", "host:9-8", "host:1-65536", "host:1-x", ":1-2")) {
      assertThrows(IllegalArgumentException.class, () -> MetricsKeys.candidates(bad), bad);
    }
  }
}
