/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.rpc.Frame;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands between clients and a namenode over TCP, and ends the connection of a chosen request
 * before it or its answer has passed. Thread-safe.
 */
final class LossyRelay implements AutoCloseable {
  /** What is lost with the connection. */
  enum Loss {
    REQUEST,
    ANSWER
  }

  private final InetSocketAddress namenode;
  private final ServerSocket listener;
  private final List<Socket> sockets = new ArrayList<>();
  private int opcode = -1;
  private Loss loss;
  private long lostId = -1;
  private int losses;

  LossyRelay(InetSocketAddress namenode) throws IOException {
    this.namenode = namenode;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** Where clients find it. */
  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /** Loses the next request of an operation, or its answer. */
  synchronized void lose(int newOpcode, Loss newLoss) {
    opcode = newOpcode;
    loss = newLoss;
  }

  /** How much was lost so far. */
  synchronized int losses() {
    return losses;
  }

  private synchronized boolean passesRequest(ByteBuffer header) {
    if (Frame.code(header, 0) != opcode) {
      return true;
    }
    opcode = -1;
    if (loss == Loss.ANSWER) {
      lostId = Frame.correlationId(header, 0);
      return true;
    }
    losses++;
    return false;
  }

  private synchronized boolean passesAnswer(ByteBuffer header) {
    if (Frame.correlationId(header, 0) != lostId) {
      return true;
    }
    lostId = -1;
    losses++;
    return false;
  }

  private interface Gate {
    boolean passes(ByteBuffer header);
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server =
            new Socket(InetAddress.getByName(namenode.getHostString()), namenode.getPort());
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        synchronized (this) {
          sockets.add(client);
          sockets.add(server);
        }
        start(() -> pass(client, server, this::passesRequest));
        start(() -> pass(server, client, this::passesAnswer));
      }
    } catch (IOException e) {
      // This was closed.
    }
  }

  private static void pass(Socket from, Socket to, Gate gate) {
    byte[] frame = new byte[Frame.MAX_LENGTH];
    ByteBuffer header = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    try (from;
        to) {
      DataInputStream in = new DataInputStream(from.getInputStream());
      while (true) {
        in.readFully(frame, 0, Frame.HEADER_LENGTH);
        int length = Frame.length(header, 0);
        in.readFully(frame, Frame.HEADER_LENGTH, length - Frame.HEADER_LENGTH);
        if (!gate.passes(header)) {
          return;
        }
        to.getOutputStream().write(frame, 0, length);
      }
    } catch (IOException e) {
      // One of the sides has ended.
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "lossy-relay");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public synchronized void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
