/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.error.CrailException;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The client's end of a connection. Used only by the thread that drives its loop. */
final class ClientConnection extends ChannelInboundHandlerAdapter implements Connection {
  private final InetSocketAddress address;
  private final Handler handler;
  private final long outputLimit;
  private final ReceiveBuffer input = new ReceiveBuffer(Frame.MAX_LENGTH);
  private final Output output;

  private ChannelHandlerContext context;
  private Chunk chunk;
  private int position;
  private boolean refused;
  private boolean active;
  private boolean closed;
  private String cause = "closed by the peer";

  ClientConnection(InetSocketAddress address, Handler handler, Chunk.Pool pool, long outputLimit) {
    this.address = address;
    this.handler = handler;
    this.outputLimit = outputLimit;
    this.output = new Output(pool, this::drained);
  }

  /** The buffer to receive into, for the channel's configuration. */
  ReceiveBuffer input() {
    return input;
  }

  @Override
  public int reserve(int frameLength) {
    if (closed || output.pendingBytes() >= outputLimit) {
      refused = true;
      return -1;
    }
    if (chunk != null && Chunk.CAPACITY - position < frameLength) {
      send();
    }
    if (chunk == null) {
      chunk = output.acquire();
      position = 0;
    }
    return position;
  }

  @Override
  public ByteBuffer output() {
    return chunk.view();
  }

  @Override
  public void commit(int frameLength) {
    position += frameLength;
  }

  @Override
  public void flush() {
    // A chunk that cannot leave yet goes on being filled.
    if (position > 0 && !output.isBusy()) {
      send();
    }
  }

  private void send() {
    Chunk full = chunk;
    int bytes = position;
    chunk = null;
    position = 0;
    output.send(full, bytes);
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
    if (refused && !closed && output.pendingBytes() < outputLimit) {
      refused = false;
      handler.writable();
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext newContext) {
    context = newContext;
    output.open(newContext);
  }

  /** The connection is established and wanted. */
  void open() {
    active = true;
    handler.connected(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    input.received(message);
    ByteBuffer bytes = input.view();
    int end = input.length();
    int offset = 0;
    try {
      int length = Frame.check(bytes, 0, end, Frame.KIND_RESPONSE, Frame.MAX_LENGTH);
      while (length >= 0 && !closed) {
        handler.received(bytes, offset, length);
        offset += length;
        length = Frame.check(bytes, offset, end - offset, Frame.KIND_RESPONSE, Frame.MAX_LENGTH);
      }
    } catch (CrailException e) {
      close(e.getMessage());
    }
    if (!closed) {
      input.drop(offset);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    closed = true;
    if (active) {
      handler.closed(cause);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    closed = true;
    if (chunk != null) {
      chunk.release();
      chunk = null;
    }
    output.close();
    input.release();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable failure) {
    close(NettyServer.text(failure));
  }
}
