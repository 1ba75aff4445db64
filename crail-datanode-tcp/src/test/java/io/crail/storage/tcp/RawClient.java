/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.storage.network.DataHello;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/** A client that writes any bytes, over a blocking socket. */
final class RawClient implements AutoCloseable {
  private final Socket socket = new Socket();
  private final OutputStream out;
  private final DataInputStream in;

  RawClient(InetSocketAddress address) throws IOException {
    // The window is negotiated before the connection is there.
    socket.setReceiveBufferSize(256 << 10);
    socket.connect(address, 60_000);
    socket.setSoTimeout(60_000);
    socket.setTcpNoDelay(true);
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
  }

  /** A frame's bytes: header, then room for the body. */
  static ByteBuffer frame(int code, long id, int bodyLength) {
    ByteBuffer frame =
        ByteBuffer.allocate(Frame.HEADER_LENGTH + bodyLength).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(frame, 0, frame.capacity(), code, Frame.KIND_REQUEST, id);
    return frame;
  }

  static ByteBuffer hello(UUID uuid) {
    ByteBuffer frame =
        frame(DataNodeOperations.HELLO.number(), 0, DataHello.Request.LAYOUT.fixedLength());
    DataHello.Request.CODEC.encode(DataHello.request(uuid, 1), frame, Frame.HEADER_LENGTH);
    return frame;
  }

  static ByteBuffer read(long id, int region, long offset, int length, long generation) {
    ByteBuffer frame =
        frame(DataNodeOperations.READ.number(), id, ReadData.Request.LAYOUT.fixedLength());
    ReadData.Request.encodeFields(frame, Frame.HEADER_LENGTH, region, length, offset, generation);
    return frame;
  }

  static ByteBuffer write(long id, int region, long offset, byte[] data, long generation) {
    int fixed = WriteData.Request.LAYOUT.fixedLength();
    ByteBuffer frame = frame(DataNodeOperations.WRITE.number(), id, fixed + data.length);
    WriteData.Request.encodeFields(
        frame, Frame.HEADER_LENGTH, region, data.length, offset, generation);
    return frame.put(Frame.HEADER_LENGTH + fixed, data);
  }

  void send(ByteBuffer bytes) throws IOException {
    send(bytes.array(), 0, bytes.capacity());
  }

  void send(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
    out.flush();
  }

  /** Opens the connection as a good client does. */
  RawClient greet(UUID uuid) throws IOException {
    send(hello(uuid));
    answer(0, ErrorCode.OK);
    return this;
  }

  /** Takes one answer; gives its body. */
  ByteBuffer answer(long id, ErrorCode code) throws IOException {
    ByteBuffer head = take(Frame.HEADER_LENGTH);
    ByteBuffer body = take(Frame.length(head, 0) - Frame.HEADER_LENGTH);
    assertEquals(id, Frame.correlationId(head, 0));
    assertEquals(code, ErrorCode.of(Frame.code(head, 0)));
    return body;
  }

  /** Takes one answer; returns its code. */
  ErrorCode code(long id) throws IOException {
    ByteBuffer head = take(Frame.HEADER_LENGTH);
    take(Frame.length(head, 0) - Frame.HEADER_LENGTH);
    assertEquals(id, Frame.correlationId(head, 0));
    return ErrorCode.of(Frame.code(head, 0));
  }

  /** Takes bytes. */
  ByteBuffer take(int length) throws IOException {
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** True when the server closes the connection, false when it says nothing for the time. */
  boolean isClosedWithin(int millis) throws IOException {
    socket.setSoTimeout(millis);
    try {
      byte[] bytes = new byte[64 << 10];
      while (in.read(bytes) >= 0) {
        // An answer that was on its way.
      }
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (SocketException e) {
      return true;
    }
  }

  /** Ends the connection as the kernel does for a program that is killed with data unread. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
