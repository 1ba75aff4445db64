/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.part.Generation;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.HeldMemory;
import io.crail.storage.network.DataHello;
import io.crail.storage.region.RegionMemory;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * A datanode's end of a data connection: serves one request after the other, in their order. The
 * data of a write go from the socket into the region, those of a large read from the region into
 * the socket; meanwhile nothing else is served, so what a connection costs is bounded. A peer that
 * breaks the protocol loses its connection, nobody else notices. Used only by the thread of its
 * event loop.
 */
final class DatanodeConnection extends ChannelInboundHandlerAdapter
    implements Receiver.Expectation, HeldMemory.Holder {
  /** A read up to this length is copied into the output, a longer one sent from the region. */
  static final int LARGEST_COPIED_READ = 64 * 1024;

  /** Data shorter than this take the way over the receiver, together with what follows them. */
  static final int SMALLEST_PLACED = 8 * 1024;

  /** With more bytes of answers that were not sent, no request is served. */
  static final int MOST_PENDING = 1024 * 1024;

  private static final int RECEIVE_CAPACITY = 16 * 1024;

  /** With more memory of answers they are flushed before there are more. */
  private static final int MOST_UNFLUSHED = 256 * 1024;

  private static final int WRITE_HEAD =
      Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.fixedLength();
  private static final int LONGEST_SMALL =
      Frame.HEADER_LENGTH + DataHello.Request.LAYOUT.fixedLength();
  private static final int LONGEST_REQUEST = WRITE_HEAD + DataNodeOperations.MAX_DATA_LENGTH;
  private static final int READ_HEAD = Frame.HEADER_LENGTH + ReadData.Response.LAYOUT.fixedLength();
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(256 * 1024, MOST_PENDING);

  private final TcpStorageServer server;
  private final boolean straight;
  private final Receiver receiver = new Receiver(this, RECEIVE_CAPACITY);
  private final Payload payload = new Payload();
  private final Runnable resume = this::resume;

  private ChannelHandlerContext context;
  private DatanodeLoop loop;
  private String peer = "a new connection";
  private boolean greeted;
  private boolean closed;
  private boolean serving;
  private long openedNanos;
  private long untakenBytes;
  private long untakenSinceNanos;

  // The output that was not handed to the channel yet.
  private DataAnswers out;

  // Handed to the channel, which has not taken them all.
  private final ArrayDeque<DataAnswers> handedOver = new ArrayDeque<>(4);
  private long heldBytes;
  private long unflushedBytes;
  private boolean awaitsRoom;
  private long servedRequests;
  private long progress;

  // The write whose data are arriving.
  private int missing;
  private ErrorCode refusal = ErrorCode.OK;
  private long writeDeadlineNanos;

  // The large read whose data are leaving.
  private boolean sending;
  private ErrorCode sent;

  // Of either: where its data lie. The view is this connection's own, for its position changes.
  private RegionMemory region;
  private ByteBuffer regionView;
  private int regionOffset;
  private int length;
  private long generation;
  private long correlationId;

  /**
   * Creates the handler of a connection.
   *
   * @param straight whether the socket may be read into a region; not when a read of the socket may
   *     still be under way after it was given up
   */
  DatanodeConnection(TcpStorageServer server, boolean straight) {
    this.server = server;
    this.straight = straight;
  }

  /** What the channel receives with. */
  Receiver receiver() {
    return receiver;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext newContext) {
    context = newContext;
    loop = server.loop(context.executor());
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
    missing -= receiver.received(message);
    if (!closed) {
      serve();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    flush();
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
    closed = true;
    loop.remove(this);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    closed = true;
    if (out != null) {
      loop.giveBack(out);
      out = null;
    }
    giveAllBack();
    receiver.release();
    // A closed selector may know the channel for good; a region's memory has to go before.
    region = null;
    regionView = null;
    payload.letGo();
    server.connectionClosed();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    if (cause instanceof IOException && !(cause instanceof CrailException)) {
      // The network's word that the client has gone, as clients do: they exit, or are killed.
      ended(why);
    } else {
      close(why);
    }
  }

  private void ended(String why) {
    if (!closed) {
      closed = true;
      server.ended(peer, why);
      context.close();
    }
  }

  /** Looks at the deadlines. */
  void sweep(long nowNanos) {
    if (!greeted && nowNanos - openedNanos >= server.handshakeTimeoutNanos()) {
      close("no handshake in time");
    } else if (missing > 0 && nowNanos - writeDeadlineNanos >= 0) {
      close("the data of a write did not arrive in time");
    } else {
      giveBack();
      long untaken = untaken();
      if (untaken == 0 || untaken != untakenBytes) {
        untakenBytes = untaken;
        untakenSinceNanos = nowNanos;
      } else if (nowNanos - untakenSinceNanos
          >= loop.held().patienceNanos(heldBytes, server.stallTimeoutNanos())) {
        close("takes no answers");
      }
    }
  }

  @Override
  public boolean hasProgressed() {
    long now = servedRequests - untaken();
    boolean progressed = now != progress;
    progress = now;
    return progressed;
  }

  @Override
  public void endForMemory() {
    close("holds " + heldBytes + " bytes and makes no progress, and others need them");
  }

  private long untaken() {
    ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes() - buffer.currentProgress();
  }

  private void close(String why) {
    if (!closed) {
      closed = true;
      server.dropped(peer, why);
      context.close();
      giveAllBack();
    }
  }

  /** What was handed to the channel goes when that has let go of it. */
  private void giveAllBack() {
    handedOver.forEach(loop::giveBack);
    handedOver.clear();
    countHeld();
  }

  @Override
  public boolean place(Window window) {
    if (!straight || missing < SMALLEST_PLACED || refusal != ErrorCode.OK) {
      return false;
    }
    int target = regionOffset + length - missing;
    if (!region.isReady(target, missing)) {
      return false;
    }
    window.toReceive(regionView, target, missing);
    return mayPlace(target);
  }

  @Override
  public void placed() {
    loop.hazard().retract();
  }

  /**
   * Announces what is missing of a write and looks whether it is still wanted there: the space may
   * have been given on since the write began. If so it has to be retracted.
   */
  private boolean mayPlace(int target) {
    if (!loop.hazard().announce(region.index(), target, missing, generation)) {
      throw new IllegalStateException("an event loop writes twice at a time");
    }
    refusal = region.generations().verify(target, missing, generation);
    if (refusal != ErrorCode.OK) {
      loop.hazard().retract();
    }
    return refusal == ErrorCode.OK;
  }

  @Override
  public int wanted() {
    return RECEIVE_CAPACITY;
  }

  private void resume() {
    if (!closed && !serving) {
      serve();
      flush();
      if (!closed && !isFull() && !context.channel().config().isAutoRead()) {
        context.channel().config().setAutoRead(true);
      }
    }
  }

  private boolean isFull() {
    return receiver.room() < RECEIVE_CAPACITY / 2;
  }

  /** Serves what has arrived, as far as possible. */
  private void serve() {
    serving = true;
    try {
      while (!closed && !sending && mayAnswer() && serveNext()) {
        servedRequests++;
      }
      if (!closed && isFull()) {
        // Requests wait behind one whose answer does not leave.
        context.channel().config().setAutoRead(false);
      }
    } catch (CrailException e) {
      close(e.getMessage());
    } catch (RuntimeException | AssertionError | InternalError e) {
      // An InternalError is what a read gets of a page that a failed write has left without memory.
      server.failed(peer, e);
      close("its request failed");
    } finally {
      serving = false;
    }
  }

  /** True when there may be more answers than the peer has taken; else that is looked at again. */
  private boolean mayAnswer() {
    if (!context.channel().isWritable()) {
      return false;
    }
    if (loop.mayHoldMore(heldBytes)) {
      return true;
    }
    giveBack();
    if (loop.mayHoldMore(heldBytes)) {
      return true;
    }
    if (!awaitsRoom) {
      awaitsRoom = true;
      // Output leaves in order, so an empty buffer after it tells when it is gone.
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
    if (sent != null) {
      endRead();
      return true;
    }
    if (length > 0) {
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
    if (!greeted && opcode != DataNodeOperations.HELLO.number()) {
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

  private void serveSmall(int opcode, ByteBuffer bytes, int at, int frameLength)
      throws CrailException {
    int body = at + Frame.HEADER_LENGTH;
    int bodyLength = frameLength - Frame.HEADER_LENGTH;
    correlationId = Frame.correlationId(bytes, at);
    if (opcode == DataNodeOperations.READ.number()) {
      ReadData.Request.LAYOUT.check(bytes, body, bodyLength);
      read(bytes, body);
    } else if (opcode == DataNodeOperations.PING.number()) {
      Ping.Request request = Ping.Request.CODEC.decode(bytes, body, bodyLength);
      int answer = begin(Ping.Response.LAYOUT.fixedLength());
      Ping.Response.CODEC.encode(new Ping.Response(request.data()), out.bytes(), answer);
      end(ErrorCode.OK, Ping.Response.LAYOUT.fixedLength());
    } else if (opcode == DataNodeOperations.HELLO.number()) {
      hello(DataHello.Request.CODEC.decode(bytes, body, bodyLength));
    } else {
      throw ErrorCode.PROTOCOL.exception("unknown opcode " + opcode);
    }
  }

  private void hello(DataHello.Request request) throws CrailException {
    ErrorCode refusal = DataHello.check(request, server.uuid());
    if (refusal == ErrorCode.PROTOCOL) {
      throw refusal.exception(
          "handshake with magic "
              + Integer.toHexString(request.magic())
              + ", version "
              + request.version());
    }
    if (refusal != ErrorCode.OK) {
      fail(refusal, "datanode process " + request.uuid() + " has ended, here is " + server.uuid());
      return;
    }
    greeted = true;
    int body = begin(DataHello.Response.LAYOUT.fixedLength());
    DataHello.Response.CODEC.encode(DataHello.response(ErrorCode.OK), out.bytes(), body);
    end(ErrorCode.OK, DataHello.Response.LAYOUT.fixedLength());
  }

  private void read(ByteBuffer bytes, int body) throws CrailException {
    int readLength = bytes.getInt(body + ReadData.Request.LENGTH);
    if (readLength < 1 || readLength > DataNodeOperations.MAX_DATA_LENGTH) {
      throw ErrorCode.PROTOCOL.exception("a read of " + readLength + " bytes");
    }
    long offset = bytes.getLong(body + ReadData.Request.REGION_OFFSET);
    int index = bytes.getInt(body + ReadData.Request.REGION);
    generation = bytes.getLong(body + ReadData.Request.GENERATION);
    ErrorCode code = locate(index, offset, readLength);
    if (code == ErrorCode.OK) {
      code = region.generations().verify(regionOffset, readLength, generation);
    }
    if (code != ErrorCode.OK) {
      fail(code, describe(index, offset, readLength));
    } else if (readLength <= LARGEST_COPIED_READ) {
      copyOut(readLength, index);
    } else {
      sendOut(readLength);
    }
  }

  private void copyOut(int readLength, int index) {
    int fixed = ReadData.Response.LAYOUT.fixedLength();
    int answer = begin(fixed + readLength);
    ErrorCode code = region.read(regionOffset, out.bytes(), answer + fixed, readLength, generation);
    if (code != ErrorCode.OK) {
      // Nothing was committed, so the error takes the place of the data.
      fail(code, describe(index, regionOffset, readLength));
      return;
    }
    ReadData.Response.encodeFields(out.bytes(), answer, readLength, false);
    end(ErrorCode.OK, fixed + readLength);
  }

  private void sendOut(int readLength) {
    length = readLength;
    int head = begin(READ_HEAD - Frame.HEADER_LENGTH) - Frame.HEADER_LENGTH;
    Frame.write(
        out.bytes(),
        head,
        READ_HEAD + readLength,
        ErrorCode.OK.number(),
        Frame.KIND_RESPONSE,
        correlationId);
    ReadData.Response.encodeFields(out.bytes(), head + Frame.HEADER_LENGTH, readLength, true);
    out.add(READ_HEAD);
    handOver();
    sending = true;
    payload.toSend(regionView, regionOffset, readLength);
    context.writeAndFlush(payload.retain(), context.voidPromise());
    giveBack();
  }

  /** The data of a large read have left, or the connection is being closed. */
  private void dataSent() {
    if (!sending || !context.channel().isActive()) {
      return;
    }
    sending = false;
    sent = region.generations().verifyAfter(regionOffset, length, generation);
    if (!serving) {
      // Not here: this is the middle of a write.
      context.executor().execute(resume);
    }
  }

  private void endRead() {
    begin(0);
    end(sent, 0);
    sent = null;
    length = 0;
  }

  private void beginWrite(ByteBuffer bytes, int at, int frameLength) throws CrailException {
    int body = at + Frame.HEADER_LENGTH;
    WriteData.Request.LAYOUT.check(bytes, body, frameLength - Frame.HEADER_LENGTH);
    correlationId = Frame.correlationId(bytes, at);
    int dataLength = bytes.getInt(body + WriteData.Request.DATA_LENGTH);
    int index = bytes.getInt(body + WriteData.Request.REGION);
    long offset = bytes.getLong(body + WriteData.Request.REGION_OFFSET);
    generation = bytes.getLong(body + WriteData.Request.GENERATION);
    refusal = locate(index, offset, dataLength);
    if (refusal == ErrorCode.OK && generation > Generation.MAX) {
      refusal = ErrorCode.INVALID_ARGUMENT;
    }
    if (refusal == ErrorCode.OK) {
      refusal = region.take(regionOffset, dataLength, generation);
    }
    length = dataLength;
    missing = dataLength;
    writeDeadlineNanos = System.nanoTime() + server.writeTimeoutNanos();
  }

  /** Takes data of the present write; false when more must arrive. */
  private boolean continueWrite() {
    int count = Math.min(missing, receiver.available());
    if (count > 0) {
      if (refusal == ErrorCode.OK) {
        placeFromReceiver(count);
      }
      receiver.take(count);
      missing -= count;
    }
    if (missing > 0) {
      return false;
    }
    endWrite();
    return true;
  }

  private void placeFromReceiver(int count) {
    int target = regionOffset + length - missing;
    if (mayPlace(target)) {
      try {
        refusal = region.place(target, receiver.bytes(), receiver.offset(), count);
      } finally {
        loop.hazard().retract();
      }
    }
  }

  private void endWrite() {
    if (refusal == ErrorCode.OK) {
      refusal = region.generations().verifyAfter(regionOffset, length, generation);
    }
    if (refusal == ErrorCode.OK) {
      begin(0);
      end(ErrorCode.OK, 0);
    } else {
      fail(refusal, describeRefusal());
    }
    boolean large = length > LARGEST_COPIED_READ;
    length = 0;
    refusal = ErrorCode.OK;
    if (large) {
      // The client need not wait for what follows.
      flush();
    }
  }

  private String describeRefusal() {
    String what = length + " bytes of generation " + generation;
    return switch (refusal) {
      case INVALID_ARGUMENT -> what + ", which no namenode gives out";
      case NO_SPACE -> what + ", which the file system of datanode " + server.uuid() + " lacks";
      case SPACE_PINNED -> what + ", where an older write stands still";
      default -> what;
    };
  }

  /** Finds the region of a request and checks that the bytes lie in it. */
  private ErrorCode locate(int index, long offset, int bytes) {
    RegionMemory found = server.hosted().get(index);
    if (found == null || !found.contains(offset, bytes)) {
      return ErrorCode.OUT_OF_RANGE;
    }
    if (found != region) {
      region = found;
      regionView = found.data().duplicate();
    }
    regionOffset = (int) offset;
    return ErrorCode.OK;
  }

  private String describe(int index, long offset, int bytes) {
    return bytes + " bytes at " + offset + " of region " + index + ", generation " + generation;
  }

  /** Makes room for a frame; gives where its body begins in the answers. */
  private int begin(int bodyLength) {
    int needed = Frame.HEADER_LENGTH + bodyLength;
    if (out != null && out.room() < needed) {
      handOver();
    }
    if (out == null) {
      out = loop.take(needed);
    }
    return out.length() + Frame.HEADER_LENGTH;
  }

  private void end(ErrorCode code, int bodyLength) {
    int frameLength = Frame.HEADER_LENGTH + bodyLength;
    Frame.write(
        out.bytes(), out.length(), frameLength, code.number(), Frame.KIND_RESPONSE, correlationId);
    out.add(frameLength);
  }

  private void fail(ErrorCode code, String detail) {
    byte[] text = detail.getBytes(StandardCharsets.UTF_8);
    int textLength = Math.min(text.length, Frame.MAX_DETAIL_LENGTH);
    int body = begin(textLength);
    out.bytes().put(body, text, 0, textLength);
    end(code, textLength);
  }

  /** Gives the answers to the channel, which sends them with the next flush. */
  private void handOver() {
    DataAnswers answers = out;
    out = null;
    if (closed) {
      loop.giveBack(answers);
      return;
    }
    handedOver.addLast(answers);
    context.write(answers.toSend(), context.voidPromise());
    unflushedBytes += answers.bytes().capacity();
    if (unflushedBytes > MOST_UNFLUSHED) {
      // So that what the peer does not take is known while answers are made.
      flushNow();
    }
  }

  private void flush() {
    if (out != null && !closed) {
      handOver();
      context.flush();
    }
    unflushedBytes = 0;
    giveBack();
  }

  private void flushNow() {
    unflushedBytes = 0;
    context.flush();
    giveBack();
  }

  /** What the socket has taken is used again. */
  private void giveBack() {
    while (!handedOver.isEmpty() && handedOver.peekFirst().isUnshared()) {
      loop.giveBack(handedOver.pollFirst());
    }
    countHeld();
  }

  /** Tells the loop what is held for the peer. */
  private void countHeld() {
    long now = 0;
    for (DataAnswers answers : handedOver) {
      now += answers.bytes().capacity();
    }
    long change = now - heldBytes;
    if (change != 0) {
      heldBytes = now;
      loop.held().count(this, now, change);
    }
  }

  /** The data of a large read; tells when the channel is done with them. */
  private final class Payload extends Window {
    @Override
    public boolean release() {
      boolean freed = super.release();
      if (isIdle()) {
        dataSent();
      }
      return freed;
    }
  }
}
