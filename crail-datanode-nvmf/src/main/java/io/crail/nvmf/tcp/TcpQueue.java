/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.Digests;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.ProtocolError;
import io.crail.rpc.netty.Dialer;
import io.crail.rpc.netty.NettyClientLoop;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A queue over one TCP connection. A command leaves as its header and, if the controller takes them
 * along, the user's memory in one gathering write. Otherwise the data leave when the controller is
 * ready for them. Answers may come in any order; the id of a command is the number of its slot.
 */
final class TcpQueue implements NvmeQueue, Dialer.Listener, QueueInput.Owner {
  private final NettyClientLoop loop;
  private final Digests digests;
  private final NvmeQueue.Listener listener;
  private final TcpSlots slots;
  private QueueOutput outgoing;
  private Channel channel;
  private boolean dispatching;
  private boolean flushDue;
  private boolean opened;
  private boolean closed;

  TcpQueue(NettyClientLoop loop, Digests digests, int depth, NvmeQueue.Listener listener) {
    this.loop = loop;
    this.digests = digests;
    this.listener = listener;
    this.slots = new TcpSlots(loop, depth);
  }

  void open(InetSocketAddress address, long deadlineNanos) {
    loop.connect(
        address,
        deadlineNanos,
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel newChannel) {
            new QueueInput(TcpQueue.this, slots, digests, newChannel).initialize();
          }
        },
        this);
  }

  @Override
  public void connected(Channel newChannel) {
    if (closed) {
      newChannel.close();
      return;
    }
    channel = newChannel;
    outgoing = new QueueOutput(newChannel, slots.count(), digests);
    outgoing.begin();
  }

  @Override
  public void failed(String cause) {
    end(cause, true);
  }

  @Override
  public void inCapsule(int bytes) {
    outgoing.inCapsule(bytes);
  }

  /** Bytes that arrive are placed by this side, and those of a write are sent by it. */
  @Override
  public boolean leavesMemoryAlone() {
    return true;
  }

  @Override
  public boolean hasRoom() {
    return opened && slots.isAnyFree();
  }

  @Override
  public int inFlight() {
    return slots.inFlight();
  }

  @Override
  public void send(NvmeRequest request) {
    int slot = slots.take(request);
    slots.sent(slot, outgoing.command(slot, slots.id(slot), request));
    loop.expect();
  }

  /** What is sent within a batch of answers leaves at its end, in one call of the system. */
  @Override
  public void flush() {
    if (dispatching) {
      flushDue = true;
    } else if (!closed) {
      outgoing.flush();
    }
  }

  @Override
  public void close(String cause) {
    end(cause, false);
  }

  private void end(String cause, boolean report) {
    if (closed) {
      return;
    }
    closed = true;
    opened = false;
    if (channel != null) {
      if (channel.isOpen()) {
        // A reset drops the bytes that the kernel has not sent.
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
      }
      channel.close();
    }
    slots.endAll(cause);
    if (report) {
      listener.lost(cause);
    }
  }

  // What the incoming side reports.

  @Override
  public boolean isOpened() {
    return opened;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void batchBegins() {
    dispatching = true;
  }

  @Override
  public void batchEnded() {
    dispatching = false;
    if (flushDue) {
      flushDue = false;
      flush();
    }
  }

  @Override
  public void expect() {
    loop.expect();
  }

  @Override
  public void lost(Channel gone, String cause) {
    if (gone == channel) {
      end(cause, true);
    }
  }

  @Override
  public void removed(Channel gone) {
    if (gone == channel) {
      outgoing.release();
    }
  }

  @Override
  public void agreed(ByteBuffer bytes, int at) throws ProtocolError {
    outgoing.agreed(bytes, at);
    opened = true;
    listener.opened();
  }

  @Override
  public void ready(int id, int tag, int offset, int length) throws ProtocolError {
    int slot = slots.slot(id);
    NvmeRequest request = slots.request(slot);
    if (request.direction() != NvmeRequest.Direction.TO_CONTROLLER
        || offset != slots.sent(slot)
        || length < 1
        || offset > request.length() - length) {
      throw new ProtocolError(
          "it asks for "
              + length
              + " bytes at "
              + offset
              + " of "
              + request.length()
              + ", of which were sent "
              + slots.sent(slot));
    }
    if (!outgoing.isIdle(slot)) {
      throw new ProtocolError("it asks for data while others are being sent");
    }
    slots.sent(slot, offset + length);
    outgoing.data(slot, slots.id(slot), request, tag, offset, length);
    flush();
  }

  @Override
  public void ended(int id, int status, long result) throws ProtocolError {
    int slot = slots.slot(id);
    NvmeRequest request = slots.request(slot);
    int moved = slots.received(slot) + slots.sent(slot);
    boolean moves = request.direction() != NvmeRequest.Direction.NONE;
    if (status == NvmeStatus.OK && moves && moved != request.length() && !request.mayBeShort()) {
      throw new ProtocolError(
          "success after " + moved + " bytes of data in place of " + request.length());
    }
    if (!outgoing.isIdle(slot)) {
      throw new ProtocolError("an answer to a command before its data were sent");
    }
    outgoing.letGo(slot);
    boolean damaged = slots.isDamaged(slot);
    slots
        .free(slot)
        .ended(
            status == NvmeStatus.OK && damaged ? NvmeStatus.TRANSIENT_TRANSPORT_ERROR : status,
            result);
  }
}
