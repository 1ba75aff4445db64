/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.Digests;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.ProtocolError;
import io.crail.rpc.netty.Receiver;
import io.crail.rpc.netty.RetargetableBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.uring.IoUringSocketChannel;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * What a controller sends on a connection. The data of a large read are received into the user's
 * memory. Used only in the loop.
 */
final class QueueInput extends ChannelInboundHandlerAdapter implements Receiver.Expectation {
  /** The queue that a channel belongs to. In the loop. */
  interface Owner {
    /** True once ICResp has arrived. */
    boolean isOpened();

    boolean isClosed();

    /** Bytes have arrived, and all answers in them are delivered now. */
    void batchBegins();

    /** Ends {@link #batchBegins}. */
    void batchEnded();

    /** Bytes will come soon. */
    void expect();

    /** The connection of a channel is gone, or has broken the protocol. */
    void lost(Channel gone, String cause);

    /** A channel is gone, and holds nothing any more. */
    void removed(Channel gone);

    /** ICResp has arrived. */
    void agreed(ByteBuffer bytes, int at) throws ProtocolError;

    /** The controller is ready for data of a command. */
    void ready(int id, int tag, int offset, int length) throws ProtocolError;

    /** A command has ended. */
    void ended(int id, int status, long result) throws ProtocolError;
  }

  /** Below this, data are copied rather than received straight. */
  private static final int SMALLEST_PLACED = 16 * 1024;

  private static final int RECEIVE_CAPACITY = 64 * 1024;

  private final Owner queue;
  private final TcpSlots slots;
  private final Digests digests;
  private final Channel channel;
  private final boolean straight;
  private final Receiver receiver = new Receiver(this, RECEIVE_CAPACITY);
  private final CRC32C crc = new CRC32C();

  // The data that are arriving: of which slot, how many bytes are missing, and what follows them.
  private int arriving = TcpSlots.NONE;
  private int missing;
  private int dataStart;
  private int dataLength;
  private int dataFlags;
  private boolean digestDue;

  /** Why the channel is being closed, or null. */
  private String failure;

  QueueInput(Owner queue, TcpSlots slots, Digests digests, Channel channel) {
    this.queue = queue;
    this.slots = slots;
    this.digests = digests;
    this.channel = channel;
    this.straight = !(channel instanceof IoUringSocketChannel);
  }

  /** Sets up the channel, which is about to connect. */
  void initialize() {
    channel.config().setRecvByteBufAllocator(receiver);
    channel.pipeline().addLast(this);
  }

  @Override
  public boolean place(RetargetableBuf window) {
    if (!straight
        || queue.isClosed()
        || arriving == TcpSlots.NONE
        || digestDue
        || missing < SMALLEST_PLACED) {
      return false;
    }
    NvmeRequest request = slots.request(arriving);
    if (request.isGivenUp()) {
      return false;
    }
    int at = request.offset() + dataStart + dataLength - missing;
    window.toReceive(request.view(), at, missing);
    return true;
  }

  /** Few enough bytes that the data of a large read, if they come next, are not among them. */
  @Override
  public int wanted() {
    if (straight && arriving == TcpSlots.NONE && slots.largeReads() > 0) {
      int head = Pdu.DATA_LENGTH + (digests.header() ? Pdu.DIGEST_LENGTH : 0);
      if (head > receiver.available()) {
        return head - receiver.available();
      }
    }
    return RECEIVE_CAPACITY;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    missing -= receiver.received(message);
    queue.batchBegins();
    try {
      while (!queue.isClosed() && takeNext()) {
        // The condition does the work.
      }
    } catch (ProtocolError e) {
      queue.lost(channel, e.getMessage());
    } finally {
      queue.batchEnded();
    }
    if (!queue.isClosed() && missing > 0) {
      queue.expect();
    }
  }

  /** Takes the next unit or data; false when they have not arrived. */
  private boolean takeNext() throws ProtocolError {
    if (arriving != TcpSlots.NONE) {
      return takeData();
    }
    if (receiver.available() < Pdu.COMMON) {
      return false;
    }
    ByteBuffer bytes = receiver.bytes();
    int at = receiver.offset();
    int type = bytes.get(at);
    int flags = bytes.get(at + 1);
    int headerLength = bytes.get(at + 2) & 0xff;
    int dataAt = bytes.get(at + 3) & 0xff;
    long length = bytes.getInt(at + 4) & 0xffffffffL;
    checkHead(type, headerLength, flags);
    int head = headerLength + (hasHeaderDigest(type) ? Pdu.DIGEST_LENGTH : 0);
    if (type == Pdu.DATA_TO_HOST) {
      if (dataAt < head) {
        throw new ProtocolError("data at " + dataAt + " within a header of " + head + " bytes");
      }
      head = dataAt;
    } else if (type != Pdu.CONTROLLER_TERMINATES && length != head) {
      throw new ProtocolError("a unit of type " + type + " with " + length + " bytes");
    }
    if (receiver.available() < head) {
      return false;
    }
    checkHeaderDigest(type, at, headerLength);
    receiver.take(head);
    take(type, flags, bytes, at, length - head);
    return true;
  }

  private boolean hasHeaderDigest(int type) {
    return digests.header() && type != Pdu.IC_RESPONSE && type != Pdu.CONTROLLER_TERMINATES;
  }

  private void checkHead(int type, int headerLength, int flags) throws ProtocolError {
    int expected =
        switch (type) {
          case Pdu.IC_RESPONSE -> Pdu.IC_LENGTH;
          case Pdu.RESPONSE -> Pdu.RESPONSE_LENGTH;
          case Pdu.DATA_TO_HOST, Pdu.READY, Pdu.CONTROLLER_TERMINATES -> Pdu.DATA_LENGTH;
          default -> throw new ProtocolError("a unit of type " + type);
        };
    if (headerLength != expected) {
      throw new ProtocolError("a header of " + headerLength + " bytes for type " + type);
    }
    boolean early = type == Pdu.IC_RESPONSE || type == Pdu.CONTROLLER_TERMINATES;
    if (queue.isOpened() ? type == Pdu.IC_RESPONSE : !early) {
      throw new ProtocolError("a unit of type " + type + " at this time");
    }
    if (!early && ((flags & Pdu.HEADER_DIGEST) != 0) != digests.header()) {
      throw new ProtocolError("a header digest is missing, or was not asked for");
    }
  }

  private void checkHeaderDigest(int type, int at, int headerLength) throws ProtocolError {
    if (!hasHeaderDigest(type)) {
      return;
    }
    ByteBuffer bytes = receiver.bytes();
    int received = bytes.getInt(at + headerLength);
    int digest = Pdu.digest(crc, bytes, at, headerLength);
    bytes.clear();
    if (received != digest) {
      throw new ProtocolError("a wrong header digest");
    }
  }

  private void take(int type, int flags, ByteBuffer bytes, int at, long rest) throws ProtocolError {
    switch (type) {
      case Pdu.IC_RESPONSE:
        queue.agreed(bytes, at);
        break;
      case Pdu.RESPONSE:
        int entry = at + Pdu.COMMON;
        queue.ended(
            bytes.getShort(entry + 12) & 0xffff,
            (bytes.getShort(entry + 14) & 0xffff) >> 1,
            bytes.getLong(entry));
        break;
      case Pdu.DATA_TO_HOST:
        beginData(flags, bytes, at, rest);
        break;
      case Pdu.READY:
        queue.ready(
            Pdu.command(bytes, at),
            Pdu.tag(bytes, at),
            Pdu.offset(bytes, at),
            Pdu.length(bytes, at));
        break;
      default:
        queue.lost(channel, "the target has ended the connection: " + Pdu.reason(bytes, at));
        break;
    }
  }

  private void beginData(int flags, ByteBuffer bytes, int at, long rest) throws ProtocolError {
    int slot = slots.slot(Pdu.command(bytes, at));
    NvmeRequest request = slots.request(slot);
    int offset = Pdu.offset(bytes, at);
    int length = Pdu.length(bytes, at);
    int digest = digests.data() && length > 0 ? Pdu.DIGEST_LENGTH : 0;
    boolean last = (flags & Pdu.LAST) != 0;
    if (((flags & Pdu.DATA_DIGEST) != 0) != digest > 0) {
      throw new ProtocolError("a data digest is missing, or was not asked for");
    }
    if (slots.isComplete(slot)) {
      throw new ProtocolError("data after the last data of a command");
    }
    if (!last && (flags & Pdu.SUCCESS) != 0) {
      throw new ProtocolError("success with data that are not the last");
    }
    if (request.direction() != NvmeRequest.Direction.TO_HOST
        || offset != slots.received(slot)
        || length < 0
        || length > request.length() - offset
        || rest != (long) length + digest) {
      throw new ProtocolError(
          length + " bytes of data at " + offset + " of " + request.length() + " bytes");
    }
    if (last) {
      slots.complete(slot);
    }
    arriving = slot;
    dataStart = offset;
    dataLength = length;
    dataFlags = flags;
    missing = length;
    digestDue = false;
  }

  private boolean takeData() throws ProtocolError {
    NvmeRequest request = slots.request(arriving);
    if (!digestDue) {
      int count = Math.min(missing, receiver.available());
      if (count > 0) {
        if (!request.isGivenUp()) {
          int at = request.offset() + dataStart + dataLength - missing;
          request.view().clear().put(at, receiver.bytes(), receiver.offset(), count);
        }
        receiver.take(count);
        missing -= count;
      }
      if (missing > 0) {
        return false;
      }
      digestDue = true;
    }
    if (digests.data() && dataLength > 0) {
      if (receiver.available() < Pdu.DIGEST_LENGTH) {
        return false;
      }
      checkDataDigest(request);
    }
    int slot = arriving;
    arriving = TcpSlots.NONE;
    digestDue = false;
    slots.received(slot, dataStart + dataLength);
    if ((dataFlags & Pdu.SUCCESS) != 0) {
      queue.ended(slots.id(slot), NvmeStatus.OK, 0);
    }
    return true;
  }

  private void checkDataDigest(NvmeRequest request) {
    int received = receiver.bytes().getInt(receiver.offset());
    receiver.take(Pdu.DIGEST_LENGTH);
    if (!request.isGivenUp()
        && received != Pdu.digest(crc, request.view(), request.offset() + dataStart, dataLength)) {
      slots.damaged(arriving);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    queue.lost(channel, failure != null ? failure : "the target has closed the connection");
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    receiver.release();
    queue.removed(channel);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // Also called within a call that sends, where no request may end yet.
    failure = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    context.close();
  }
}
