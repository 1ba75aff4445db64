/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.storage.network.DataHello;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A datanode that follows the script of a test on each connection. */
final class ScriptedDatanode implements AutoCloseable {
  /** The script of a connection, which is closed at the end. */
  interface Script {
    /**
     * Serves a connection.
     *
     * @param number counts the connections, from 0
     */
    void run(int number, Peer peer) throws IOException, InterruptedException;
  }

  /** The other end of a connection. */
  static final class Peer {
    private final Socket socket;
    private final DataInputStream in;

    private Peer(Socket socket) throws IOException {
      this.socket = socket;
      this.in = new DataInputStream(socket.getInputStream());
    }

    /** Takes a whole request. */
    ByteBuffer take() throws IOException {
      byte[] head = new byte[Frame.HEADER_LENGTH];
      in.readFully(head);
      int length = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
      byte[] frame = java.util.Arrays.copyOf(head, length);
      in.readFully(frame, head.length, length - head.length);
      return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Takes the first bytes of something. */
    void take(int length) throws IOException {
      in.readFully(new byte[length]);
    }

    void send(byte[] bytes) throws IOException {
      socket.getOutputStream().write(bytes);
    }

    /** Answers a request with a body. */
    void answer(long id, ErrorCode code, byte[] body) throws IOException {
      send(frame(id, code, body));
    }

    static byte[] frame(long id, ErrorCode code, byte[] body) {
      ByteBuffer frame =
          ByteBuffer.allocate(Frame.HEADER_LENGTH + body.length).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(frame, 0, frame.capacity(), code.number(), Frame.KIND_RESPONSE, id);
      return frame.put(Frame.HEADER_LENGTH, body).array();
    }

    /** Answers the handshake. */
    void greet() throws IOException {
      take();
      answer(0, ErrorCode.OK, DataHello.bytes(DataHello.response(ErrorCode.OK)).array());
    }

    /** Answers reads and writes until the end, every byte being {@code value}. */
    void serve(byte value) throws IOException {
      while (true) {
        serveOne(take(), value);
      }
    }

    void serveOne(ByteBuffer request, byte value) throws IOException {
      long id = Frame.correlationId(request, 0);
      if (Frame.code(request, 0) == DataNodeOperations.WRITE.number()) {
        answer(id, ErrorCode.OK, new byte[0]);
      } else {
        int length = request.getInt(Frame.HEADER_LENGTH + ReadData.Request.LENGTH);
        answer(id, ErrorCode.OK, data(length, value));
      }
    }

    /** The body of a read's answer. */
    static byte[] data(int length, byte value) {
      int fixed = ReadData.Response.LAYOUT.fixedLength();
      ByteBuffer body = ByteBuffer.allocate(fixed + length).order(ByteOrder.LITTLE_ENDIAN);
      ReadData.Response.encodeFields(body, 0, length, false);
      java.util.Arrays.fill(body.array(), fixed, fixed + length, value);
      return body.array();
    }

    /** Waits for the other side to close, taking whatever comes. */
    void awaitEnd() throws IOException {
      byte[] bytes = new byte[8192];
      while (in.read(bytes) >= 0) {
        // Only the end is of interest.
      }
    }
  }

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final Script script;

  ScriptedDatanode(Script script) throws IOException {
    this.script = script;
    // So that a large write does not fit, however much a tuned kernel would take.
    listener.setReceiveBufferSize(256 << 10);
    Thread thread = new Thread(this::accept, "scripted-datanode");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(true);
        sockets.add(socket);
        int number = accepted.getAndIncrement();
        Thread thread = new Thread(() -> serve(number, socket), "scripted-connection");
        thread.setDaemon(true);
        thread.start();
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void serve(int number, Socket socket) {
    try (socket) {
      script.run(number, new Peer(socket));
    } catch (IOException | InterruptedException e) {
      // The client has closed, or the test is over.
    } finally {
      ended.incrementAndGet();
    }
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  int accepted() {
    return accepted.get();
  }

  int ended() {
    return ended.get();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
