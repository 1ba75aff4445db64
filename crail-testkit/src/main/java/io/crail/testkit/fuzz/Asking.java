/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.Frame;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A connection to a namenode without a client: it sends one request, then reads its answer. Not
 * thread-safe.
 */
public final class Asking implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 60_000;

  private final Socket socket;
  private final DataInputStream in;
  private long requests;

  /** Connects and says hello. */
  public Asking(InetSocketAddress namenode) throws IOException {
    socket = new Socket(namenode.getHostString(), namenode.getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(socket.getInputStream());
    ask(
        NameNodeOperations.HELLO,
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            Hello.ROLE_CLIENT,
            1,
            Utf8.EMPTY,
            Utf8.EMPTY));
  }

  /**
   * Sends a request and returns its answer.
   *
   * @throws CrailException when the namenode refuses it
   */
  public <Q, R> R ask(Operation<Q, R> operation, Q request) throws IOException {
    Codec<Q> codec = operation.request();
    int length = Frame.HEADER_LENGTH + codec.length(request);
    ByteBuffer frame = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    long id = Frame.correlationId(++requests, 0);
    Frame.write(frame, 0, length, operation.number(), Frame.KIND_REQUEST, id);
    codec.encode(request, frame, Frame.HEADER_LENGTH);
    socket.getOutputStream().write(frame.array());
    ByteBuffer head = take(Frame.HEADER_LENGTH);
    ByteBuffer body = take(Frame.length(head, 0) - Frame.HEADER_LENGTH);
    ErrorCode code = ErrorCode.of(Frame.code(head, 0));
    if (code != ErrorCode.OK) {
      throw code.exception(new String(body.array(), StandardCharsets.UTF_8));
    }
    return operation.response().decode(body, 0, body.capacity());
  }

  private ByteBuffer take(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the namenode has ended the connection");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
