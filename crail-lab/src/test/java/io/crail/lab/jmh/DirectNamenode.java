/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;

/**
 * A namenode without a network and without threads of its own, and one connection of a client to
 * it: the bytes of requests go in, and the bytes of answers come out. Used by one thread.
 */
final class DirectNamenode implements AutoCloseable {
  private static final long SEED = 42;
  private static final int ANSWER_BYTES = 1 << 20;

  private final Direct transport = new Direct();
  private final NameNodeServer server;
  private final Answers answers = new Answers();
  private RequestBatch batch;
  private long sequence;

  /** Keeps the service, which nothing reaches but a call. */
  private static final class Direct implements Transport {
    private Service service;

    @Override
    public ServerEndpoint listen(String name, InetSocketAddress address, Service served) {
      service = served;
      return new ServerEndpoint() {
        @Override
        public InetSocketAddress address() {
          return address;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public ClientLoop newClientLoop(String name) {
      throw new UnsupportedOperationException("there are no other namenodes");
    }

    @Override
    public void close() {}
  }

  /** Has room for the answers to one batch. */
  private static final class Answers extends ResponseWriter {
    private final ByteBuffer memory =
        ByteBuffer.allocateDirect(ANSWER_BYTES).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      return memory;
    }

    void reset() {
      detach();
    }
  }

  /** Requests of one operation, which are sent together, any number of times. */
  static final class Requests {
    private final int opcode;
    private final ByteBuffer frames;
    private final int[] offsets;
    private final int[] lengths;

    /** Encodes the requests. */
    <Q> Requests(Operation<Q, ?> operation, List<Q> requests) {
      Codec<Q> codec = operation.request();
      opcode = operation.number();
      offsets = new int[requests.size()];
      lengths = new int[requests.size()];
      int end = 0;
      for (int i = 0; i < offsets.length; i++) {
        offsets[i] = end;
        lengths[i] = Frame.HEADER_LENGTH + codec.length(requests.get(i));
        end += lengths[i];
      }
      frames = ByteBuffer.allocateDirect(end).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < offsets.length; i++) {
        codec.encode(requests.get(i), frames, offsets[i] + Frame.HEADER_LENGTH);
      }
    }
  }

  /** Opens a namenode with the defaults, and connects. */
  DirectNamenode() throws IOException {
    this(Configuration.builder().build());
    connect(Hello.ROLE_CLIENT, 0);
  }

  /** Opens a namenode, without a connection. */
  DirectNamenode(Configuration configuration) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    server =
        NameNodeServer.open(
            configuration, 0, 1, address, transport, Clock.SYSTEM, new Random(SEED));
  }

  /**
   * Connects; a former connection is used no longer.
   *
   * @param role as in the handshake
   * @param patienceMillis how long its requests may be sent again
   */
  void connect(int role, int patienceMillis) throws CrailException {
    batch = new RequestBatch(new Session("bench"));
    Hello.Request hello =
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            role,
            0,
            SEED,
            SEED + role,
            patienceMillis,
            Utf8.EMPTY,
            Utf8.of("bench"),
            SmallValue.NONE);
    call(NameNodeOperations.HELLO, hello);
  }

  /** Has one request served, and returns its answer. */
  <Q, R> R call(Operation<Q, R> operation, Q request) throws CrailException {
    serve(new Requests(operation, List.of(request)));
    int length = Frame.length(answers.buffer(), 0) - Frame.HEADER_LENGTH;
    return operation.response().decode(answers.buffer(), Frame.HEADER_LENGTH, length);
  }

  /**
   * Has requests served.
   *
   * @return the answers, one frame after the other, until the next call
   * @throws CrailException when one was refused
   */
  ByteBuffer serve(Requests requests) throws CrailException {
    batch.reset(requests.frames);
    for (int i = 0; i < requests.offsets.length; i++) {
      int offset = requests.offsets[i];
      int length = requests.lengths[i];
      long id = Frame.correlationId(++sequence, i);
      Frame.write(requests.frames, offset, length, requests.opcode, Frame.KIND_REQUEST, id);
      batch.add(offset, length);
    }
    answers.reset();
    transport.service.serve(batch, answers);
    ByteBuffer frames = answers.buffer();
    int at = 0;
    for (int i = 0; i < requests.offsets.length; i++) {
      int code = Frame.code(frames, at);
      if (code != ErrorCode.OK.number()) {
        throw ErrorCode.of(code).exception("request " + i);
      }
      at += Frame.length(frames, at);
    }
    return frames;
  }

  @Override
  public void close() {
    server.close();
  }
}
