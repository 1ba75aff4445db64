/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.ArrayDeque;

/**
 * The output of a connection. While the socket takes everything, a chunk is free again as soon as
 * it was written. A socket that is full holds the output back here until it has taken all that was
 * handed to it, so a slow peer costs a bounded number of chunks, however small the writes. Used
 * only by the connection's thread.
 */
final class Output {
  private record Piece(Chunk chunk, int bytes) {}

  private final Chunk.Pool pool;
  private final Runnable drained;
  private final ArrayDeque<Piece> sending = new ArrayDeque<>(0);
  private final ArrayDeque<Piece> waiting = new ArrayDeque<>(0);
  private ChannelHandlerContext context;
  private long pendingBytes;
  private boolean closed;

  /**
   * Creates the output of a connection.
   *
   * @param drained called when the socket has taken everything after it had been full
   */
  Output(Chunk.Pool pool, Runnable drained) {
    this.pool = pool;
    this.drained = drained;
  }

  void open(ChannelHandlerContext newContext) {
    this.context = newContext;
  }

  Chunk acquire() {
    return pool.acquire();
  }

  /** True while the socket has not taken what was handed to it. */
  boolean isBusy() {
    return !sending.isEmpty();
  }

  /** Bytes handed to {@link #send} that the socket has not taken. */
  long pendingBytes() {
    return pendingBytes;
  }

  /** A number that changes while the peer takes bytes; 0 when nothing waits. */
  long untakenBytes() {
    ChannelOutboundBuffer buffer = isBusy() ? context.channel().unsafe().outboundBuffer() : null;
    return buffer == null ? 0 : buffer.totalPendingWriteBytes() - buffer.currentProgress();
  }

  /** Sends the first bytes of a chunk and takes charge of it. */
  void send(Chunk chunk, int bytes) {
    if (closed || bytes == 0) {
      pool.release(chunk);
      return;
    }
    if (isBusy()) {
      pendingBytes += bytes;
      waiting.addLast(new Piece(chunk, bytes));
      return;
    }
    context.writeAndFlush(chunk.toSend(bytes), context.voidPromise());
    if (chunk.isSent() || closed) {
      pool.release(chunk);
    } else {
      pendingBytes += bytes;
      sending.addLast(new Piece(chunk, bytes));
      tellWhenTaken();
    }
  }

  /** Forgets what has not been sent and gives all memory back. */
  void close() {
    closed = true;
    releaseAll(sending);
    releaseAll(waiting);
    pendingBytes = 0;
  }

  private void tellWhenTaken() {
    // Output leaves in order, so an empty buffer behind it tells when it is gone.
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER, context.newPromise())
        .addListener(future -> taken());
  }

  private void taken() {
    if (closed) {
      return;
    }
    releaseAll(sending);
    pendingBytes = 0;
    while (!waiting.isEmpty()) {
      Piece piece = waiting.pollFirst();
      pendingBytes += piece.bytes();
      sending.addLast(piece);
      context.write(piece.chunk().toSend(piece.bytes()), context.voidPromise());
    }
    if (!sending.isEmpty()) {
      tellWhenTaken();
    }
    if (!closed) {
      drained.run();
    }
  }

  private void releaseAll(ArrayDeque<Piece> pieces) {
    while (!pieces.isEmpty()) {
      pool.release(pieces.pollFirst().chunk());
    }
  }
}
