/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.rpc.netty.Receiver;
import io.crail.rpc.netty.RetargetableBuf;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.network.DataHello;
import io.crail.storage.network.TransferQueue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.uring.IoUringSocketChannel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A client's end of one data connection. Requests in flight are in a ring, since the datanode
 * answers in order. The correlation id is the number of the request. A write leaves as its header
 * and the user's memory in one gathering write; the data of a large read are received into the
 * user's memory. Used only in the loop.
 */
final class DataClientEnd extends ChannelInboundHandlerAdapter implements Receiver.Expectation {
  /** The endpoint that a connection belongs to. In the loop. */
  interface Owner {
    /** The handshake has succeeded. */
    void ready(DataClientEnd opened);

    /** The datanode has refused the handshake. */
    void refused(DataClientEnd opened, CrailException cause);

    /** The connection is gone. */
    void lost(DataClientEnd gone, String cause);

    /** A request was answered, so there is room for another one. */
    void answered();
  }

  /** What comes next from the datanode. */
  private enum Next {
    /** The answer to the handshake. */
    HELLO,
    /** The answer to the first request in the ring, or its head. */
    ANSWER,
    /** The data of the first read in the ring. */
    DATA,
    /** The second answer to that read, which says whether its data were good. */
    VERDICT
  }

  private static final int RECEIVE_CAPACITY = 64 * 1024;
  private static final int SLOT_LENGTH = 64;
  private static final int FLUSH_BYTES = 16 * 1024;
  private static final long QUIET_NANOS = 1_000_000_000;
  private static final int READ_HEAD = Frame.HEADER_LENGTH + ReadData.Response.LAYOUT.fixedLength();
  private static final int LONGEST_RESPONSE = READ_HEAD + DataNodeOperations.MAX_DATA_LENGTH;
  private static final int LONGEST_SMALL = Frame.HEADER_LENGTH + Frame.MAX_DETAIL_LENGTH;

  private final Owner endpoint;
  private final NettyClientLoop loop;
  private final DatanodeDescription datanode;
  private final ClientHandshake handshake;
  private final Receiver receiver = new Receiver(this, RECEIVE_CAPACITY);
  private final TcpTransfer[] ring;
  private final int[] lengths;
  private final boolean[] writes;
  private final RetargetableBuf[] heads;
  private final ByteBuffer[] headViews;
  private final ByteBuf headMemory;
  private final ByteBuffer headBytes;

  private Channel channel;
  private boolean straight;
  private boolean answered;
  private boolean abandoned;
  private long first = ClientHandshake.ID + 1;
  private long next = ClientHandshake.ID + 1;
  private int unflushed;
  private Next awaited = Next.HELLO;

  // State of the read whose data arrive: bytes that are missing, whether a verdict follows
  // them, and whether they come too late for their memory.
  private int missing;
  private boolean hasVerdict;
  private boolean late;

  private boolean heard;
  private long quietSinceNanos;

  /**
   * Creates the handler of a connection.
   *
   * @param capacity the most requests in flight
   */
  DataClientEnd(
      Owner endpoint,
      NettyClientLoop loop,
      DatanodeDescription datanode,
      ClientHandshake handshake,
      int capacity) {
    this.endpoint = endpoint;
    this.loop = loop;
    this.datanode = datanode;
    this.handshake = handshake;
    this.ring = new TcpTransfer[capacity];
    this.lengths = new int[capacity];
    this.writes = new boolean[capacity];
    this.heads = new RetargetableBuf[capacity];
    this.headViews = new ByteBuffer[capacity];
    int bytes = capacity * SLOT_LENGTH;
    this.headMemory = UnpooledByteBufAllocator.DEFAULT.directBuffer(bytes, bytes);
    this.headBytes = headMemory.nioBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int slot = 0; slot < capacity; slot++) {
      heads[slot] = new RetargetableBuf();
      headViews[slot] = headMemory.nioBuffer(0, bytes);
    }
    this.quietSinceNanos = loop.clock().nanoTime();
  }

  /** Sets up a channel that is about to connect. */
  void initialize(Channel newChannel) {
    channel = newChannel;
    straight = !(newChannel instanceof IoUringSocketChannel);
    channel.config().setRecvByteBufAllocator(receiver);
    channel.pipeline().addLast(this);
  }

  /** The channel is connected and still needed: begins the handshake. */
  void open() {
    channel.writeAndFlush(handshake.hello(), channel.voidPromise());
  }

  /** True once a request has been answered. */
  boolean hasAnswered() {
    return answered;
  }

  /** True when one more transfer may be in flight. */
  boolean hasRoom() {
    return next - first < ring.length && heads[slot(next)].isIdle();
  }

  /** Sends a transfer. The caller knows that there is room. */
  void send(TcpTransfer transfer) {
    int slot = slot(next);
    RetargetableBuf head = heads[slot];
    int length = transfer.transfer().length();
    int at = slot * SLOT_LENGTH;
    int headLength = encode(transfer, at, length);
    if (length > DataNodeOperations.LARGEST_COPIED_READ) {
      loop.expect();
    }
    ring[slot] = transfer;
    lengths[slot] = length;
    writes[slot] = transfer.isWrite();
    next++;
    head.toSend(headViews[slot], at, headLength);
    channel.write(head.retain(), channel.voidPromise());
    unflushed += headLength;
    if (transfer.isWrite()) {
      RetargetableBuf window = transfer.window();
      window.toSend(transfer.view(), transfer.transfer().bufferOffset(), length);
      channel.write(window.retain(), channel.voidPromise());
      unflushed += length;
    }
  }

  private int encode(TcpTransfer transfer, int at, int length) {
    int body = at + Frame.HEADER_LENGTH;
    int region = transfer.transfer().region();
    long offset = transfer.transfer().regionOffset();
    long generation = transfer.transfer().generation();
    int headLength;
    int opcode;
    int frameLength;
    if (transfer.isWrite()) {
      headLength = Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.fixedLength();
      frameLength = headLength + length;
      opcode = DataNodeOperations.WRITE.number();
      WriteData.Request.encodeFields(headBytes, body, region, length, offset, generation);
    } else {
      headLength = Frame.HEADER_LENGTH + ReadData.Request.LAYOUT.fixedLength();
      frameLength = headLength;
      opcode = DataNodeOperations.READ.number();
      ReadData.Request.encodeFields(headBytes, body, region, length, offset, generation);
    }
    Frame.write(headBytes, at, frameLength, opcode, Frame.KIND_REQUEST, next);
    return headLength;
  }

  /**
   * True when the sent requests should be flushed now: nothing else is in flight, or they are many
   * bytes.
   */
  boolean wantsFlush() {
    return next - first == 1 || unflushed >= FLUSH_BYTES;
  }

  void flush() {
    if (unflushed > 0 && !abandoned) {
      unflushed = 0;
      channel.flush();
    }
  }

  private int slot(long number) {
    return (int) (number % ring.length);
  }

  /**
   * Closes the connection. No waiting byte leaves any more.
   *
   * @return the transfers that were in flight and have not been given up, in order
   */
  TransferQueue<TcpTransfer> abandon() {
    TransferQueue<TcpTransfer> inFlight = new TransferQueue<>();
    if (abandoned) {
      return inFlight;
    }
    abandoned = true;
    if (channel.isOpen()) {
      // A reset drops the bytes that the kernel has not sent.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    channel.close();
    for (; first < next; first++) {
      TcpTransfer transfer = ring[slot(first)];
      if (transfer != null) {
        inFlight.addLast(transfer);
        ring[slot(first)] = null;
      }
    }
    return inFlight;
  }

  /**
   * Gives up the transfers whose deadline has passed. The bytes of such a read are dropped when
   * they come. For a write, or when the datanode is fully silent, the connection is closed.
   */
  void expire(long nowNanos) {
    if (heard || next == first) {
      heard = false;
      quietSinceNanos = nowNanos;
    }
    TransferQueue<TcpTransfer> overdue = null;
    boolean hopeless = nowNanos - quietSinceNanos >= QUIET_NANOS;
    boolean unsafe = false;
    for (long number = first; number < next; number++) {
      TcpTransfer transfer = ring[slot(number)];
      if (transfer != null && transfer.isOverdue(nowNanos)) {
        ring[slot(number)] = null;
        unsafe |= transfer.isWrite();
        overdue = overdue == null ? new TransferQueue<>() : overdue;
        overdue.addLast(transfer);
      }
    }
    if (overdue == null) {
      return;
    }
    if (unsafe || hopeless) {
      // First, so that no owner sees the end of a write that still continues.
      endpoint.lost(this, "a transfer was not answered in time");
    }
    overdue.endAll(overdueError());
  }

  private CrailException overdueError() {
    return ErrorCode.TIMED_OUT.exception("no answer from datanode " + datanode.address());
  }

  /**
   * The read whose data are arriving; null when its memory must not be touched any more. That may
   * be before {@link #expire} sees it: a caller that waits for a read gives up by the clock, even
   * while no thread drives the loop. From then on the data of the read are dropped, and the read
   * ends after the last of them.
   */
  private TcpTransfer target() {
    TcpTransfer transfer = ring[slot(first)];
    late = late || transfer == null || transfer.isOverdue(loop.clock().nanoTime());
    return late ? null : transfer;
  }

  @Override
  public boolean place(RetargetableBuf window) {
    if (awaited != Next.DATA || !straight || missing < DataNodeOperations.SMALLEST_PLACED) {
      return false;
    }
    TcpTransfer transfer = target();
    if (transfer == null) {
      return false;
    }
    int done = lengths[slot(first)] - missing;
    window.toReceive(transfer.view(), transfer.transfer().bufferOffset() + done, missing);
    return true;
  }

  /**
   * Few enough bytes that the data of a large read, if it is the next answer, are not among them.
   */
  @Override
  public int wanted() {
    if (awaited == Next.DATA || !straight) {
      return RECEIVE_CAPACITY;
    }
    boolean trails = awaited == Next.VERDICT;
    int wanted = trails ? Frame.HEADER_LENGTH : 0;
    long number = trails ? first + 1 : first;
    if (number < next && isLargeRead(slot(number))) {
      wanted += READ_HEAD;
      if (wanted > receiver.available()) {
        return wanted - receiver.available();
      }
    }
    return RECEIVE_CAPACITY;
  }

  private boolean isLargeRead(int slot) {
    return !writes[slot] && lengths[slot] > DataNodeOperations.LARGEST_COPIED_READ;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    missing -= receiver.received(message);
    heard = true;
    try {
      while (!abandoned && takeNext()) {
        // The condition does the work.
      }
      if (missing > 0) {
        loop.expect();
      }
    } catch (CrailException e) {
      endpoint.lost(this, e.getMessage());
    }
  }

  /** Takes the next answer or data; false when they have not arrived. */
  private boolean takeNext() throws CrailException {
    if (awaited == Next.DATA) {
      return takeData();
    }
    ByteBuffer bytes = receiver.bytes();
    int at = receiver.offset();
    int available = receiver.available();
    int whole = Frame.check(bytes, at, available, Frame.KIND_RESPONSE, LONGEST_RESPONSE);
    if (available < Frame.HEADER_LENGTH) {
      return false;
    }
    int frameLength = Frame.length(bytes, at);
    int code = Frame.code(bytes, at);
    long number = Frame.correlationId(bytes, at);
    boolean greeting = awaited == Next.HELLO;
    if (number != (greeting ? ClientHandshake.ID : first) || (!greeting && first == next)) {
      throw ErrorCode.PROTOCOL.exception("an answer to a request " + number + " that was not made");
    }
    boolean data = awaited == Next.ANSWER && code == ErrorCode.OK.number() && !writes[slot(first)];
    if (data) {
      return available >= READ_HEAD && takeReadHead(bytes, at, frameLength);
    }
    if (frameLength > LONGEST_SMALL) {
      throw ErrorCode.PROTOCOL.exception("an answer of " + frameLength + " bytes");
    }
    if (whole < 0) {
      return false;
    }
    receiver.take(frameLength);
    takeSmall(code, bytes, at + Frame.HEADER_LENGTH, frameLength - Frame.HEADER_LENGTH);
    return true;
  }

  private boolean takeReadHead(ByteBuffer bytes, int at, int frameLength) throws CrailException {
    int body = at + Frame.HEADER_LENGTH;
    ReadData.Response.LAYOUT.check(bytes, body, frameLength - Frame.HEADER_LENGTH);
    int dataLength = bytes.getInt(body + ReadData.Response.DATA_LENGTH);
    if (dataLength != lengths[slot(first)]) {
      throw ErrorCode.PROTOCOL.exception(dataLength + " bytes in place of " + lengths[slot(first)]);
    }
    hasVerdict = bytes.getInt(body + ReadData.Response.TRAILER) != 0;
    receiver.take(READ_HEAD);
    awaited = Next.DATA;
    missing = dataLength;
    return true;
  }

  private boolean takeData() {
    int count = Math.min(missing, receiver.available());
    if (count > 0) {
      TcpTransfer transfer = target();
      if (transfer != null) {
        int at = transfer.transfer().bufferOffset() + lengths[slot(first)] - missing;
        transfer.view().clear().put(at, receiver.bytes(), receiver.offset(), count);
      }
      receiver.take(count);
      missing -= count;
    }
    if (missing > 0) {
      return false;
    }
    if (hasVerdict) {
      awaited = Next.VERDICT;
    } else {
      awaited = Next.ANSWER;
      finish(null);
    }
    return true;
  }

  private void takeSmall(int code, ByteBuffer bytes, int body, int length) throws CrailException {
    CrailException failure = null;
    if (code != ErrorCode.OK.number()) {
      byte[] detail = new byte[length];
      bytes.get(body, detail);
      failure = ErrorCode.of(code).exception(new String(detail, StandardCharsets.UTF_8));
    }
    if (awaited == Next.HELLO) {
      if (failure == null) {
        takeHello(DataHello.Response.CODEC.decode(bytes, body, length));
      } else {
        endpoint.refused(this, failure);
      }
      return;
    }
    if (failure == null && length != 0) {
      throw ErrorCode.PROTOCOL.exception("an answer with " + length + " bytes too many");
    }
    TcpTransfer transfer = ring[slot(first)];
    if (writes[slot(first)] && transfer != null && !transfer.window().isIdle()) {
      throw ErrorCode.PROTOCOL.exception("an answer to a write before its data were sent");
    }
    awaited = Next.ANSWER;
    finish(failure);
  }

  private void takeHello(DataHello.Response answer) throws CrailException {
    if (DataHello.answer(answer) != ErrorCode.OK) {
      throw ErrorCode.PROTOCOL.exception("an answer to the hello that no datanode gives");
    }
    ByteBuf message;
    try {
      message = handshake.next(answer);
    } catch (CrailException e) {
      endpoint.refused(this, e);
      return;
    }
    if (message != null) {
      channel.writeAndFlush(message, channel.voidPromise());
    } else {
      awaited = Next.ANSWER;
      endpoint.ready(this);
    }
  }

  /** Ends the first request in flight. */
  private void finish(CrailException failure) {
    TcpTransfer transfer = ring[slot(first)];
    boolean dropped = late;
    late = false;
    ring[slot(first)] = null;
    first++;
    answered = true;
    if (transfer != null) {
      if (failure == null && !dropped) {
        transfer.end();
      } else {
        transfer.end(dropped ? overdueError() : failure);
      }
    }
    if (!abandoned) {
      endpoint.answered();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (!abandoned) {
      endpoint.lost(this, "the datanode has closed the connection");
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    receiver.release();
    headMemory.release();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!abandoned) {
      endpoint.lost(this, cause.getMessage() == null ? cause.toString() : cause.getMessage());
    }
  }
}
