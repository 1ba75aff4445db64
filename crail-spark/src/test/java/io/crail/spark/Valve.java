/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands between clients and a server on this host, and holds back all bytes on demand: the server
 * is silent then, and no side learns of it. Thread-safe.
 */
public final class Valve implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final InetSocketAddress server;
  private final ServerSocket door;
  private final List<Socket> sockets = new ArrayList<>();
  private boolean held;
  private boolean closed;

  /** Opens it. */
  public Valve(InetSocketAddress server) throws IOException {
    this.server = server;
    this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** {@return where it listens} */
  public int port() {
    return door.getLocalPort();
  }

  /** {@return where it listens, as the address of a namenode} */
  public String address() {
    return "crail://127.0.0.1:" + port();
  }

  /** No byte passes from now on, or all do again. */
  public synchronized void hold(boolean hold) {
    held = hold;
    notifyAll();
  }

  private static void start(Transfer transfer) {
    Thread thread =
        new Thread(
            () -> {
              try {
                transfer.run();
              } catch (IOException e) {
                // Its sockets are closed.
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "valve");
    thread.setDaemon(true);
    thread.start();
  }

  @FunctionalInterface
  private interface Transfer {
    void run() throws IOException, InterruptedException;
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = keep(door.accept());
      Socket target = keep(new Socket(server.getHostString(), server.getPort()));
      start(() -> pass(client, target));
      start(() -> pass(target, client));
    }
  }

  private synchronized Socket keep(Socket socket) throws IOException {
    if (closed) {
      socket.close();
    }
    sockets.add(socket);
    return socket;
  }

  private void pass(Socket from, Socket to) throws IOException, InterruptedException {
    byte[] buffer = new byte[BUFFER];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
        awaitOpen();
        out.write(buffer, 0, length);
      }
    }
  }

  private synchronized void awaitOpen() throws IOException, InterruptedException {
    while (held && !closed) {
      wait();
    }
    if (closed) {
      throw new IOException("closed");
    }
  }

  /** Closes all connections. What is held back is lost. */
  @Override
  public synchronized void close() throws IOException {
    closed = true;
    door.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    notifyAll();
  }
}
