/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.rpc.CommitGate;
import io.crail.rpc.CommitQueue;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The output of a connection. It alone owns the connection's chunks: the chunk that is being
 * filled, and the chunks that the socket has not taken. While the socket takes everything, a chunk
 * is free again as soon as it was written. When the socket is full, the output waits here until the
 * socket has taken everything that was handed to it. So a slow peer costs a bounded number of
 * chunks, no matter how small the writes are. Answers that wait for a {@link CommitGate} wait here
 * too, and those that are made in the meantime share the next chunk. Used only by the connection's
 * thread.
 */
final class SendBuffer {
  private final Chunk.Pool pool;
  private final CommitQueue commits;
  private final Runnable drained;
  private final ArrayDeque<Chunk> sending = new ArrayDeque<>(0);
  private final ArrayDeque<Chunk> waiting = new ArrayDeque<>(0);
  private ChannelHandlerContext context;
  private Chunk filling;
  private long takenBytes;
  private boolean awaitsCommit;
  private boolean closed;

  /**
   * Creates the output of a connection.
   *
   * @param commits decides when chunks may leave
   * @param drained called when all has left that had to wait
   */
  SendBuffer(Chunk.Pool pool, CommitQueue commits, Runnable drained) {
    this.pool = pool;
    this.commits = commits;
    this.drained = drained;
  }

  void open(ChannelHandlerContext newContext) {
    this.context = newContext;
  }

  /** True while output waits for the socket, or for a commit. */
  boolean isBusy() {
    return !sending.isEmpty() || !waiting.isEmpty();
  }

  /** The length of all chunks that this holds, in bytes. */
  long heldBytes() {
    int chunks = sending.size() + waiting.size() + (filling == null ? 0 : 1);
    return (long) chunks * pool.capacity();
  }

  /** The number of bytes that fit after the written ones without another chunk. */
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
   * The chunk to write into, with room for this many bytes after the written ones.
   *
   * @throws OutOfMemoryError when there is no memory for another chunk; the bytes written before
   *     are sent all the same
   */
  ByteBuffer room(int bytes) {
    return room() < bytes ? next() : filling.view();
  }

  /**
   * An empty chunk to write into. The previous chunk is handed over first.
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

  /** Sends the written bytes. While other output waits they stay, and more may be written. */
  void flush() {
    if (filling == null) {
      return;
    }
    if (isBusy()) {
      askCommit(filling);
    } else {
      handOver();
    }
  }

  /** What a chunk rests on is committed while those before it are, rather than after them. */
  private void askCommit(Chunk chunk) {
    if (chunk.asked < chunk.written) {
      chunk.asked = chunk.written;
      chunk.commit = commits.position();
    }
  }

  private void handOver() {
    Chunk chunk = filling;
    filling = null;
    if (closed || chunk.written == 0) {
      pool.release(chunk);
      return;
    }
    askCommit(chunk);
    if (isBusy() || !commits.isReached(chunk.commit)) {
      waiting.addLast(chunk);
      awaitCommit();
    } else {
      send(chunk);
    }
  }

  private void send(Chunk chunk) {
    // Added before it is written, so that it has an owner whatever the write does.
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

  /** Waits for the commit of the first chunk, unless it waits for the socket. */
  private void awaitCommit() {
    if (sending.isEmpty() && !waiting.isEmpty() && !awaitsCommit) {
      awaitsCommit = true;
      commits.await(waiting.peekFirst().commit, this::committed);
    }
  }

  private void committed() {
    awaitsCommit = false;
    if (closed) {
      return;
    }
    if (commits.hasFailed()) {
      context.close();
      return;
    }
    while (sending.isEmpty() && mayFirstLeave()) {
      send(waiting.pollFirst());
      if (closed) {
        return;
      }
    }
    awaitCommit();
    drained.run();
  }

  private boolean mayFirstLeave() {
    return !waiting.isEmpty() && commits.isReached(waiting.peekFirst().commit);
  }

  /** Drops all output that has not been sent, and gives all memory back. */
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
    // What is sent leaves in order, so an empty buffer at the end tells when all of it is gone.
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
    while (mayFirstLeave()) {
      Chunk chunk = waiting.pollFirst();
      sending.addLast(chunk);
      context.write(chunk.toSend(), context.voidPromise());
    }
    if (!sending.isEmpty()) {
      tellWhenTaken();
    }
    awaitCommit();
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
