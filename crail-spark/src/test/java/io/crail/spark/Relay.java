/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** An address of a server on this host that can be cut off, and comes back. Thread-safe. */
public final class Relay implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final int port;
  private volatile boolean cut;

  /** Begins to forward to a port. */
  public Relay(int port) throws IOException {
    this.port = port;
    threads.submit(this::accept);
  }

  /** {@return its own port} */
  public int port() {
    return listener.getLocalPort();
  }

  /** Ends all connections, and each new one, until they are allowed again. */
  public void cut(boolean now) throws IOException {
    cut = now;
    if (now) {
      for (Socket each : sockets) {
        each.close();
      }
    }
  }

  private Void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
      sockets.add(client);
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      threads.submit(() -> forward(client, server));
      threads.submit(() -> forward(server, client));
    }
  }

  private Void forward(Socket from, Socket to) throws IOException {
    // Whichever comes last sees the other: a connection, or the cut.
    try (from;
        to) {
      if (!cut) {
        from.getInputStream().transferTo(to.getOutputStream());
      }
    } finally {
      sockets.remove(from);
    }
    return null;
  }

  @Override
  public void close() throws Exception {
    listener.close();
    cut(true);
    threads.shutdown();
    if (!threads.awaitTermination(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("a connection does not end");
    }
  }
}
