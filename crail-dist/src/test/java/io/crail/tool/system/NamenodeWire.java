/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.Utf8;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.Frame;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** A connection to a namenode without a client: frames as bytes, one request at a time. */
final class NamenodeWire implements AutoCloseable {
  private static final AtomicLong REQUESTS = new AtomicLong();
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final String FIGURE = "transport ";

  private final Socket socket;
  private final Hello.Response hello;

  /** Connects and shakes hands. */
  NamenodeWire(InetSocketAddress namenode) throws Exception {
    socket = new Socket(namenode.getAddress(), namenode.getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    hello = ask(NameNodeOperations.HELLO, Hello.Response.CODEC, hello());
  }

  /** The handshake of a client. */
  static byte[] hello() {
    return frame(
        NameNodeOperations.HELLO,
        Hello.Request.CODEC,
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            Hello.ROLE_CLIENT,
            ThreadLocalRandom.current().nextLong(),
            Utf8.of("stranger"),
            Utf8.EMPTY));
  }

  /** A request as bytes. */
  static <T> byte[] frame(Operation<?, ?> operation, Codec<T> codec, T request) {
    int length = Frame.HEADER_LENGTH + codec.length(request);
    ByteBuffer frame = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    long id = Frame.correlationId(REQUESTS.incrementAndGet(), 0);
    Frame.write(frame, 0, length, operation.number(), Frame.KIND_REQUEST, id);
    codec.encode(request, frame, Frame.HEADER_LENGTH);
    return frame.array();
  }

  /** The id of the root. */
  long rootId() {
    return hello.rootId();
  }

  /** What the namenode's transport counts, as its dump shows. */
  Map<String, Long> statistics() throws Exception {
    byte[] request = frame(NameNodeOperations.DUMP, Dump.Request.CODEC, new Dump.Request(0));
    String text = ask(NameNodeOperations.DUMP, Dump.Response.CODEC, request).text().toString();
    Map<String, Long> statistics = new LinkedHashMap<>();
    for (String line : text.split("\n")) {
      if (line.startsWith(FIGURE)) {
        String[] words = line.substring(FIGURE.length()).split(" ");
        statistics.put(words[0], Long.parseLong(words[1]));
      }
    }
    return statistics;
  }

  private <T> T ask(Operation<?, ?> operation, Codec<T> codec, byte[] request) throws Exception {
    socket.getOutputStream().write(request);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] header = new byte[Frame.HEADER_LENGTH];
    in.readFully(header);
    ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    byte[] body = new byte[head.getInt(0) - Frame.HEADER_LENGTH];
    in.readFully(body);
    if (Frame.code(head, 0) != 0) {
      throw new IOException(operation.name() + " gives code " + Frame.code(head, 0));
    }
    return codec.decode(ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN), 0, body.length);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
