/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.error.CrailException;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The client's end of a connection. Used only by the thread that drives its loop. */
final class ClientConnection extends ChannelInboundHandlerAdapter implements Connection {
  private final InetSocketAddress address;
  private final Handler handler;
  private final long outputLimit;
  private final ReceiveBuffer input;
  private final SendBuffer output;

  private ChannelHandlerContext context;
  private ByteBuffer view;
  private boolean refused;
  private boolean active;
  private boolean closed;
  private boolean answered;
  private String cause = "closed by the peer";

  ClientConnection(
      InetSocketAddress address, Handler handler, LoopMemory memory, long outputLimit) {
    this.address = address;
    this.handler = handler;
    this.outputLimit = outputLimit;
    this.input = new ReceiveBuffer(memory.inputs());
    this.output = new SendBuffer(memory, CommitQueue.NONE, this::drained);
  }

  /** The buffer to receive into, for the channel's configuration. */
  ReceiveBuffer input() {
    return input;
  }

  @Override
  public int reserve(int frameLength) {
    if (closed || isFull(frameLength)) {
      refused = true;
      return -1;
    }
    try {
      view = output.room(frameLength);
    } catch (OutOfMemoryError e) {
      // The calls now wait for another connection, or for their deadlines.
      close("no memory for requests: " + e.getMessage());
      return -1;
    }
    return output.written();
  }

  /** True when a frame has to wait until the socket has taken earlier ones. */
  private boolean isFull(int frameLength) {
    return output.isBusy()
        && output.room() < frameLength
        && output.heldBytes() + LoopMemory.OUTPUT_CAPACITY > outputLimit;
  }

  @Override
  public ByteBuffer output() {
    return view;
  }

  @Override
  public void commit(int frameLength) {
    output.written(output.written() + frameLength, false);
  }

  @Override
  public void flush() {
    // A chunk that cannot leave yet is filled further.
    output.flush();
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close(String why) {
    if (!closed) {
      closed = true;
      cause = why;
      context.close();
    }
  }

  private void drained() {
    flush();
    if (refused && !closed) {
      refused = false;
      handler.writable();
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext newContext) {
    context = newContext;
    output.open(newContext);
  }

  /** Opens the connection, which is established and wanted. */
  void open() {
    active = true;
    handler.connected(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    if (closed) {
      ReferenceCountUtil.release(message);
      return;
    }
    input.received(message);
    ByteBuffer bytes = input.view();
    int start = input.start();
    int end = start + input.length();
    int offset = start;
    try {
      int length = Frame.check(bytes, start, end - start, Frame.KIND_RESPONSE, Frame.MAX_LENGTH);
      while (length >= 0 && !closed) {
        answered = true;
        handler.received(bytes, offset, length);
        offset += length;
        length = Frame.check(bytes, offset, end - offset, Frame.KIND_RESPONSE, Frame.MAX_LENGTH);
      }
    } catch (CrailException e) {
      close(byPeer(e.getMessage()));
    }
    if (!closed) {
      input.drop(offset - start);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    if (input.refusal() != null) {
      close("no memory for answers: " + input.refusal().getMessage());
    }
    input.giveBackIfEmpty();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    if (!closed) {
      cause = byPeer(cause);
    }
    closed = true;
    if (active) {
      handler.closed(cause);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    closed = true;
    output.close();
    input.close();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable failure) {
    String why = NettySockets.text(failure);
    close(failure instanceof IOException ? byPeer(why) : why);
  }

  /** Whatever else listens at the port, such as a datanode, hangs up or speaks another protocol. */
  private String byPeer(String why) {
    return answered ? why : why + " before it answered; is it a namenode?";
  }
}
