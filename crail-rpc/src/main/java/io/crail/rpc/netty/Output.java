/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The output of a connection, and the one owner of its chunks: of the one that is filled, and of
 * those that the socket has not taken. While the socket takes everything, a chunk is free again as
 * soon as it was written. A socket that is full holds the output back here until it has taken all
 * that was handed to it, so a slow peer costs a bounded number of chunks, however small the writes.
 * Used only by the connection's thread.
 */
final class Output {
  private final Chunk.Pool pool;
  private final Runnable drained;
  private final ArrayDeque<Chunk> sending = new ArrayDeque<>(0);
  private final ArrayDeque<Chunk> waiting = new ArrayDeque<>(0);
  private ChannelHandlerContext context;
  private Chunk filling;
  private long takenBytes;
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

  /** True while the socket has not taken what was handed to it. */
  boolean isBusy() {
    return !sending.isEmpty();
  }

  /** Bytes of the memory that this holds. */
  long heldBytes() {
    int chunks = sending.size() + waiting.size() + (filling == null ? 0 : 1);
    return (long) chunks * pool.capacity();
  }

  /** Bytes that fit after the written ones without another chunk. */
  int room() {
    return filling == null ? 0 : pool.capacity() - filling.written;
  }

  /** A number that changes while the peer takes bytes; 0 when nothing waits. */
  long untakenBytes() {
    ChannelOutboundBuffer buffer = isBusy() ? context.channel().unsafe().outboundBuffer() : null;
    return buffer == null ? 0 : buffer.totalPendingWriteBytes() - buffer.currentProgress();
  }

  /** A number that grows while the peer takes bytes. */
  long takenBytes() {
    ChannelOutboundBuffer buffer = isBusy() ? context.channel().unsafe().outboundBuffer() : null;
    return takenBytes + (buffer == null ? 0 : buffer.currentProgress());
  }

  /**
   * The chunk that is written into, with room for so many bytes after those that were written.
   *
   * @throws OutOfMemoryError when there is no memory for another chunk; what was written is on its
   *     way all the same
   */
  ByteBuffer room(int bytes) {
    return room() < bytes ? next() : filling.view();
  }

  /**
   * An empty chunk to write into, after the one before it was handed over.
   *
   * @throws OutOfMemoryError as {@link #room(int)} does
   */
  ByteBuffer next() {
    if (filling != null) {
      handOver();
    }
    filling = pool.acquire();
    return filling.view();
  }

  /** Bytes that were written into the present chunk. */
  int written() {
    return filling == null ? 0 : filling.written;
  }

  /** All bytes of the present chunk up to here are whole frames. */
  void written(int upTo) {
    if (filling != null) {
      filling.written = upTo;
    }
  }

  /** Sends what was written; while the socket is full it stays, and more may be written. */
  void flush() {
    if (filling != null && !isBusy()) {
      handOver();
    }
  }

  private void handOver() {
    Chunk chunk = filling;
    filling = null;
    if (closed || chunk.written == 0) {
      pool.release(chunk);
    } else if (isBusy()) {
      waiting.addLast(chunk);
    } else {
      // Here before it is written, so that it has an owner whatever comes of that.
      sending.addLast(chunk);
      context.writeAndFlush(chunk.toSend(), context.voidPromise());
      if (closed) {
        return;
      }
      if (chunk.isUnshared()) {
        takenBytes += chunk.written;
        pool.release(sending.pollLast());
      } else {
        tellWhenTaken();
      }
    }
  }

  /** Forgets what has not been sent and gives all memory back. */
  void close() {
    closed = true;
    if (filling != null) {
      Chunk chunk = filling;
      filling = null;
      pool.release(chunk);
    }
    releaseAll(sending);
    releaseAll(waiting);
  }

  private void tellWhenTaken() {
    // Output leaves in order, so an empty buffer after it tells when it is gone.
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER, context.newPromise())
        .addListener(future -> taken());
  }

  private void taken() {
    if (closed) {
      return;
    }
    sending.forEach(chunk -> takenBytes += chunk.written);
    releaseAll(sending);
    while (!waiting.isEmpty()) {
      Chunk chunk = waiting.pollFirst();
      sending.addLast(chunk);
      context.write(chunk.toSend(), context.voidPromise());
    }
    if (!sending.isEmpty()) {
      tellWhenTaken();
    }
    if (!closed) {
      drained.run();
    }
  }

  private void releaseAll(ArrayDeque<Chunk> chunks) {
    while (!chunks.isEmpty()) {
      pool.release(chunks.pollFirst());
    }
  }
}
