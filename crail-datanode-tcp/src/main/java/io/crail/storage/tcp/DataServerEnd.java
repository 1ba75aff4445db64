/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.netty.HeldMemory;
import io.crail.rpc.netty.Receiver;
import io.crail.rpc.netty.RetargetableBuf;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.network.DataHello;
import io.crail.storage.network.DataLogin;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * A datanode's end of a data connection: serves one request after the other, in their order. The
 * data of a write go from the socket into the region, and the data of a large read go from the
 * region into the socket. During that the connection serves nothing else, so its cost is bounded. A
 * peer that breaks the protocol loses its connection; other peers do not notice. Used only by the
 * thread of its event loop.
 */
final class DataServerEnd extends ChannelInboundHandlerAdapter
    implements Receiver.Expectation, HeldMemory.Holder, DatanodeLoop.Member {
  /** The server that a connection belongs to. Thread-safe. */
  interface Owner {
    /** The regions. */
    HostedRegions hosted();

    /** Identity of the datanode process. */
    UUID uuid();

    /** The ways to log in. */
    Mechanisms mechanisms();

    /** The state that the connections of an event loop share; only for its thread. */
    DatanodeLoop loop(EventExecutor executor);

    long writeTimeoutNanos();

    long handshakeTimeoutNanos();

    long stallTimeoutNanos();

    /** A client has gone without closing its connection, which needs no warning. */
    void ended(String peer, String why);

    /** Logs a connection that was closed because of what its client has sent, or has not sent. */
    void dropped(String peer, String why);

    /** Logs a bug. */
    void failed(String peer, Throwable cause);

    /** Counts the end of a connection. */
    void connectionClosed();
  }

  private static final int RECEIVE_CAPACITY = 16 * 1024;

  private static final int WRITE_HEAD =
      Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.fixedLength();
  private static final int LONGEST_SMALL =
      Frame.HEADER_LENGTH + DataHello.Request.LAYOUT.maxLength();
  private static final int LONGEST_REQUEST = WRITE_HEAD + DataNodeOperations.MAX_DATA_LENGTH;
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(256 * 1024, DatanodeLoop.MOST_PENDING);

  private final Owner server;
  private final boolean straight;
  private final Receiver receiver = new Receiver(this, RECEIVE_CAPACITY);
  private final AnswerOutput output = new AnswerOutput(this);
  private final ArrivingWrite write = new ArrivingWrite();
  private final LeavingRead read = new LeavingRead(output, this::dataSent);
  private final Runnable resume = this::resume;
  private final DataLogin login;

  private ChannelHandlerContext context;
  private DatanodeLoop loop;
  private String peer = "a new connection";
  private Caller caller;
  private boolean closed;

  /** The login has broken the protocol: what comes behind it is not served. */
  private boolean refused;

  private boolean serving;
  private long openedNanos;
  private long untakenBytes;
  private long untakenSinceNanos;
  private boolean awaitsRoom;
  private long servedRequests;
  private long progress;
  private long correlationId;

  /**
   * Creates the handler of a connection.
   *
   * @param straight whether the socket may be read into a region; false when a read of the socket
   *     may still be under way after it was given up
   */
  DataServerEnd(Owner server, boolean straight) {
    this.server = server;
    this.straight = straight;
    this.login = new DataLogin(server.mechanisms(), server.uuid());
  }

  /** The receiver that the channel uses. */
  Receiver receiver() {
    return receiver;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext newContext) {
    context = newContext;
    loop = server.loop(context.executor());
    output.open(context, loop);
    context.channel().config().setWriteBufferWaterMark(WATER_MARK);
  }

  @Override
  public void channelActive(ChannelHandlerContext ignored) {
    peer = String.valueOf(context.channel().remoteAddress());
    openedNanos = System.nanoTime();
    loop.add(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    write.received(receiver.received(message));
    if (!closed) {
      serve();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    output.flush();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ignored) {
    if (context.channel().isWritable() && !closed) {
      // Not here: this may be the middle of a write.
      context.executor().execute(resume);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    endOutput();
    loop.remove(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    endOutput();
    output.release();
    receiver.release();
    // A closed selector may keep the channel without end, so the region's memory has to be dropped
    // first.
    read.letGo();
    write.letGo();
    server.connectionClosed();
  }

  private void endOutput() {
    closed = true;
    output.close();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    if (cause instanceof IOException && !(cause instanceof CrailException)) {
      // The network reports that the client has gone. That is normal: clients exit, or are killed.
      ended(why);
    } else {
      close(why);
    }
  }

  private void ended(String why) {
    if (!closed) {
      endOutput();
      server.ended(peer, why);
      context.close();
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (caller == null && nowNanos - openedNanos >= server.handshakeTimeoutNanos()) {
      close("no handshake in time");
    } else if (caller != null && caller.isOver(System.currentTimeMillis() / 1000)) {
      // That is normal: the client comes back with another one.
      ended("its ticket has ended");
    } else if (write.isOverdue(nowNanos)) {
      close("the data of a write did not arrive in time");
    } else {
      output.giveBack();
      long untaken = output.untakenBytes();
      if (untaken == 0 || untaken != untakenBytes) {
        untakenBytes = untaken;
        untakenSinceNanos = nowNanos;
      } else if (nowNanos - untakenSinceNanos
          >= loop.held().patienceNanos(output.heldBytes(), server.stallTimeoutNanos())) {
        close("takes no answers");
      }
    }
  }

  @Override
  public boolean hasProgressed() {
    long now = servedRequests - output.untakenBytes();
    boolean progressed = now != progress;
    progress = now;
    return progressed;
  }

  @Override
  public void endForMemory() {
    close("holds " + output.heldBytes() + " bytes and makes no progress, and others need them");
  }

  private void close(String why) {
    if (!closed) {
      endOutput();
      server.dropped(peer, why);
      context.close();
      output.giveAllBack();
    }
  }

  @Override
  public boolean place(RetargetableBuf window) {
    return straight && write.place(window, DataNodeOperations.SMALLEST_PLACED, loop.hazard());
  }

  @Override
  public void placed() {
    loop.hazard().retract();
  }

  @Override
  public int wanted() {
    return RECEIVE_CAPACITY;
  }

  private void resume() {
    if (!closed && !serving) {
      serve();
      output.flush();
      if (!closed && !isFull() && !context.channel().config().isAutoRead()) {
        context.channel().config().setAutoRead(true);
      }
    }
  }

  private boolean isFull() {
    return receiver.room() < RECEIVE_CAPACITY / 2;
  }

  /** Serves the requests that have arrived, as far as possible. */
  private void serve() {
    serving = true;
    try {
      while (!closed && !read.isSending() && mayAnswer() && serveNext()) {
        servedRequests++;
      }
      if (!closed && isFull()) {
        // Requests wait after one whose answer does not leave.
        context.channel().config().setAutoRead(false);
      }
    } catch (CrailException e) {
      loop.hasRefused(e.code());
      close(e.getMessage());
    } catch (RuntimeException | AssertionError | InternalError e) {
      // A read of a page that a failed write has left without memory gets an InternalError.
      loop.hasRefused(ErrorCode.INTERNAL);
      server.failed(peer, e);
      close("its request failed");
    } finally {
      serving = false;
    }
  }

  /** True when more answers may be held for the peer. If false, this is checked again later. */
  private boolean mayAnswer() {
    if (!context.channel().isWritable()) {
      return false;
    }
    if (output.mayHoldMore()) {
      return true;
    }
    if (!awaitsRoom) {
      awaitsRoom = true;
      // Output leaves in order, so the end of an empty buffer after it shows when the output is
      // gone.
      context
          .writeAndFlush(Unpooled.EMPTY_BUFFER, context.newPromise())
          .addListener(
              future -> {
                awaitsRoom = false;
                if (!closed) {
                  context.executor().execute(resume);
                }
              });
    }
    return false;
  }

  /** Serves the next request or data; false when they have not arrived. */
  private boolean serveNext() throws CrailException {
    if (refused) {
      return false;
    }
    if (read.sayVerdict()) {
      return true;
    }
    if (write.isUnderWay()) {
      return continueWrite();
    }
    ByteBuffer bytes = receiver.bytes();
    int at = receiver.offset();
    int available = receiver.available();
    int whole = Frame.check(bytes, at, available, Frame.KIND_REQUEST, LONGEST_REQUEST);
    if (available < Frame.HEADER_LENGTH) {
      return false;
    }
    int frameLength = Frame.length(bytes, at);
    int opcode = Frame.code(bytes, at);
    if (caller == null && !opens(opcode)) {
      throw ErrorCode.PROTOCOL.exception("opcode " + opcode + " before the handshake");
    }
    if (opcode == DataNodeOperations.WRITE.number()) {
      if (available < WRITE_HEAD && available < frameLength) {
        return false;
      }
      beginWrite(bytes, at, frameLength);
      receiver.take(WRITE_HEAD);
      return true;
    }
    if (frameLength > LONGEST_SMALL) {
      throw ErrorCode.PROTOCOL.exception("opcode " + opcode + " with " + frameLength + " bytes");
    }
    if (whole < 0) {
      return false;
    }
    serveSmall(opcode, bytes, at, frameLength);
    receiver.take(frameLength);
    return true;
  }

  private static boolean opens(int opcode) {
    return opcode == DataNodeOperations.HELLO.number()
        || opcode == DataNodeOperations.LOGIN.number();
  }

  private void serveSmall(int opcode, ByteBuffer bytes, int at, int frameLength)
      throws CrailException {
    int body = at + Frame.HEADER_LENGTH;
    int bodyLength = frameLength - Frame.HEADER_LENGTH;
    correlationId = Frame.correlationId(bytes, at);
    if (opcode == DataNodeOperations.READ.number()) {
      ReadData.Request.LAYOUT.check(bytes, body, bodyLength);
      int length = read.serve(server.hosted(), bytes, body, correlationId);
      if (length > 0) {
        loop.hasRead(length);
      }
    } else if (opcode == DataNodeOperations.PING.number()) {
      Ping.Request request = Ping.Request.CODEC.decode(bytes, body, bodyLength);
      answer(Ping.Response.CODEC, new Ping.Response(request.data()));
    } else if (opens(opcode)) {
      logIn(opcode, bytes, body, bodyLength);
    } else {
      throw ErrorCode.PROTOCOL.exception("unknown opcode " + opcode);
    }
  }

  private void logIn(int opcode, ByteBuffer bytes, int body, int bodyLength) throws CrailException {
    boolean isFirst = opcode == DataNodeOperations.HELLO.number();
    // What is no message of a login is from a program of another kind, and gets no answer.
    DataHello.Request hello =
        isFirst ? DataHello.Request.CODEC.decode(bytes, body, bodyLength) : null;
    SmallValue message =
        isFirst ? null : Login.Request.CODEC.decode(bytes, body, bodyLength).message();
    DataHello.Response answer;
    try {
      answer = isFirst ? login.hello(hello) : login.next(message);
    } catch (CrailException e) {
      fail(e.code(), e.detail());
      if (e.code() == ErrorCode.PROTOCOL) {
        // When the answer has left. A client without it would take this for a lost connection.
        refused = true;
        context.executor().execute(() -> close(e.getMessage()));
      }
      return;
    }
    caller = login.caller();
    answer(DataHello.Response.CODEC, answer);
  }

  private <T> void answer(Codec<T> codec, T message) {
    int length = codec.length(message);
    int body = output.begin(length);
    codec.encode(message, output.bytes(), body);
    end(ErrorCode.OK, length);
  }

  private void dataSent() {
    if (!serving) {
      // Not here: this is the middle of a write.
      context.executor().execute(resume);
    }
  }

  private void beginWrite(ByteBuffer bytes, int at, int frameLength) throws CrailException {
    int body = at + Frame.HEADER_LENGTH;
    WriteData.Request.LAYOUT.check(bytes, body, frameLength - Frame.HEADER_LENGTH);
    correlationId = Frame.correlationId(bytes, at);
    write.begin(server.hosted(), bytes, body, System.nanoTime() + server.writeTimeoutNanos());
  }

  /** Takes data of the present write; false when more must arrive. */
  private boolean continueWrite() {
    write.take(receiver, loop.hazard());
    if (!write.isComplete()) {
      return false;
    }
    ErrorCode verdict = write.verdict();
    if (verdict == ErrorCode.OK) {
      loop.hasWritten(write.length());
      output.begin(0);
      end(ErrorCode.OK, 0);
    } else {
      fail(verdict, write.describe(verdict, server.uuid()));
    }
    boolean large = write.length() > DataNodeOperations.LARGEST_COPIED_READ;
    write.end();
    if (large) {
      // The client need not wait for the next requests.
      output.flush();
    }
    return true;
  }

  private void end(ErrorCode code, int bodyLength) {
    output.end(code, bodyLength, correlationId);
  }

  private void fail(ErrorCode code, String detail) {
    output.fail(code, detail, correlationId);
  }
}
