/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationServer;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection to a namenode's service without a network. The calling thread passes bytes in and
 * gets bytes back.
 */
public final class Wire {
  /** How long a client may send a request again after it has lost its connection. */
  static final int PATIENCE_MILLIS = 5_000;

  private static final AtomicLong PEERS = new AtomicLong();

  private final OperationServer server;
  private final Session session = new Session("test");
  private final RequestBatch batch = new RequestBatch(session);
  private final Writer writer = new Writer();
  private long sequence;
  private long firstOfBatch;
  private int role;
  private long clientId;
  private long peer;

  /** Keeps the answers to one batch in one buffer. */
  private static final class Writer extends ResponseWriter {
    private int turns;
    private int refusals;
    private Runnable beforeAnswer = () -> {};
    private final ByteBuffer memory =
        ByteBuffer.allocateDirect(1 << 22).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (written > 0) {
        throw new AssertionError("the answers to a batch need more room");
      }
      beforeAnswer.run();
      if (refusals > 0) {
        refusals--;
        throw new OutOfMemoryError("no memory for an answer, as asked for");
      }
      return memory;
    }

    @Override
    public boolean hasTurn() {
      return turns-- > 0;
    }

    void reset(int newTurns) {
      turns = newTurns;
      detach();
    }
  }

  Wire(OperationServer server) {
    this.server = server;
  }

  /** A connection that has said hello as a client. */
  public static Wire connect(OperationServer server, long clientId) throws CrailException {
    return connect(server, Hello.ROLE_CLIENT, clientId);
  }

  /** A connection that has said hello in a role. */
  public static Wire connect(OperationServer server, int role, long clientId)
      throws CrailException {
    Wire wire = new Wire(server);
    wire.greet(role, clientId, PEERS.incrementAndGet());
    return wire;
  }

  int role() {
    return role;
  }

  long clientId() {
    return clientId;
  }

  /**
   * A connection that takes the place of this one, which may still be there. Its next requests have
   * the ids of the last batch of this one.
   */
  Wire replacement() throws CrailException {
    return replacement(server);
  }

  /** As the other one, to a server that has taken the place of this one's. */
  Wire replacement(OperationServer other) throws CrailException {
    Wire wire = new Wire(other);
    wire.greet(role, clientId, peer);
    wire.sequence = firstOfBatch - 1;
    return wire;
  }

  /** Lets something happen between a change and its answer. */
  void beforeAnswer(Runnable action) {
    writer.beforeAnswer = action;
  }

  /** There is no memory for the next answer, nor for the error in its place. */
  void refuseMemory() {
    writer.refusals = 2;
  }

  /** The next requests have the ids of the last batch. */
  void sameIdsAgain() {
    sequence = firstOfBatch - 1;
  }

  private void greet(int newRole, long newClientId, long newPeer) throws CrailException {
    role = newRole;
    clientId = newClientId;
    peer = newPeer;
    call(
        NameNodeOperations.HELLO,
        new Hello.Request(
            Hello.MAGIC,
            Frame.VERSION,
            Frame.VERSION,
            role,
            0,
            clientId,
            peer,
            PATIENCE_MILLIS,
            Utf8.EMPTY,
            Utf8.of("tester"),
            SmallValue.NONE));
  }

  /** Ends the connection. */
  public void close() {
    server.closed(session);
  }

  /** Sends one request and gives its answer or throws its error. */
  public <Q, R> R call(Operation<Q, R> operation, Q request) throws CrailException {
    Object answer = callAll(operation, List.of(request)).get(0);
    if (answer instanceof CrailException) {
      throw (CrailException) answer;
    }
    @SuppressWarnings("unchecked")
    R response = (R) answer;
    return response;
  }

  /** Sends requests as one batch; gives for each the answer or the exception. */
  public <Q, R> List<Object> callAll(Operation<Q, R> operation, List<Q> requests)
      throws CrailException {
    List<Object> answers = callInTurns(operation, requests, Integer.MAX_VALUE);
    if (answers.size() != requests.size()) {
      throw new AssertionError("given back: " + (requests.size() - answers.size()));
    }
    return answers;
  }

  /** As {@link #callAll}, with so many turns; those given back have no answer. */
  <Q, R> List<Object> callInTurns(Operation<Q, R> operation, List<Q> requests, int turns)
      throws CrailException {
    Codec<Q> codec = operation.request();
    List<byte[]> bodies = new ArrayList<>();
    for (Q request : requests) {
      ByteBuffer body = ByteBuffer.allocate(codec.length(request)).order(ByteOrder.LITTLE_ENDIAN);
      codec.encode(request, body, 0);
      bodies.add(body.array());
    }
    List<Object> answers = new ArrayList<>();
    for (ByteBuffer body : sendRaw(operation.number(), bodies, turns)) {
      int code = Frame.code(body, 0);
      int length = body.capacity() - Frame.HEADER_LENGTH;
      if (code == ErrorCode.OK.number()) {
        answers.add(operation.response().decode(body, Frame.HEADER_LENGTH, length));
      } else {
        byte[] detail = new byte[length];
        body.get(Frame.HEADER_LENGTH, detail);
        answers.add(ErrorCode.of(code).exception(new String(detail, StandardCharsets.UTF_8)));
      }
    }
    return answers;
  }

  /** Sends bodies as they are; gives the frames of the answers. */
  List<ByteBuffer> sendRaw(int opcode, List<byte[]> bodies) throws CrailException {
    return sendRaw(opcode, bodies, Integer.MAX_VALUE);
  }

  private List<ByteBuffer> sendRaw(int opcode, List<byte[]> bodies, int turns)
      throws CrailException {
    int total = bodies.stream().mapToInt(body -> Frame.HEADER_LENGTH + body.length).sum();
    ByteBuffer in = ByteBuffer.allocateDirect(total).order(ByteOrder.LITTLE_ENDIAN);
    batch.reset(in);
    firstOfBatch = sequence + 1;
    int offset = 0;
    for (byte[] body : bodies) {
      int length = Frame.HEADER_LENGTH + body.length;
      long id = Frame.correlationId(++sequence, (int) (sequence - firstOfBatch));
      Frame.write(in, offset, length, opcode, Frame.KIND_REQUEST, id);
      in.put(offset + Frame.HEADER_LENGTH, body);
      batch.add(offset, length);
      offset += length;
    }
    writer.reset(turns);
    server.serve(batch, writer);
    ByteBuffer out = writer.buffer();
    List<ByteBuffer> frames = new ArrayList<>();
    offset = 0;
    for (int i = 0; i < batch.count(); i++) {
      int length = Frame.length(out, offset);
      if (Frame.sequence(Frame.correlationId(out, offset)) != firstOfBatch + i) {
        throw new AssertionError("answers out of order");
      }
      frames.add(out.slice(offset, length).order(ByteOrder.LITTLE_ENDIAN));
      offset += length;
    }
    return frames;
  }
}
