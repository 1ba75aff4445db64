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
 * too. A few short ones wait in a small chunk, since all connections may wait for a slow disk. Used
 * only by the connection's thread.
 */
final class SendBuffer {
  private final Chunk.Pool pool;
  private final Chunk.Pool small;
  private final CommitQueue commits;
  private final Runnable drained;
  private final ArrayDeque<Chunk> sending = new ArrayDeque<>(0);
  private final ArrayDeque<Chunk> waiting = new ArrayDeque<>(0);
  private ChannelHandlerContext context;
  private Chunk filling;
  private long takenBytes;
  private long heldBytes;
  private boolean awaitsCommit;
  private boolean closed;

  /**
   * Creates the output of a connection.
   *
   * @param commits decides when chunks may leave
   * @param drained called when all has left that had to wait
   */
  SendBuffer(LoopMemory memory, CommitQueue commits, Runnable drained) {
    this.pool = memory.outputs();
    this.small = memory.small();
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
    return heldBytes;
  }

  private Chunk acquire(Chunk.Pool from) {
    Chunk chunk = from.acquire();
    heldBytes += chunk.capacity();
    return chunk;
  }

  private void release(Chunk chunk) {
    heldBytes -= chunk.capacity();
    (chunk.capacity() == LoopMemory.SMALL_CAPACITY ? small : pool).release(chunk);
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
    filling = acquire(pool);
    return filling.view();
  }

  /** Bytes that were written into the present chunk. */
  int written() {
    return filling == null ? 0 : filling.written;
  }

  /**
   * All bytes of the present chunk up to here are whole frames.
   *
   * @param rests whether some of those that are new rest on changes
   */
  void written(int upTo, boolean rests) {
    if (filling != null) {
      filling.written = upTo;
      filling.rests |= rests;
    }
  }

  /** Sends the written bytes. While other output waits they stay, and more may be written. */
  void flush() {
    if (filling == null) {
      return;
    }
    // For a commit, a few short answers wait apart; for the socket, all share a chunk.
    if (isBusy() && !(sending.isEmpty() && isSmall(filling))) {
      askCommit(filling);
    } else {
      handOver();
    }
  }

  private static boolean isSmall(Chunk chunk) {
    return chunk.written <= LoopMemory.SMALL_CAPACITY;
  }

  /** What a chunk rests on is committed while those before it are, rather than after them. */
  private void askCommit(Chunk chunk) {
    if (chunk.rests) {
      chunk.rests = false;
      chunk.commit = commits.position();
    }
  }

  private void handOver() {
    Chunk chunk = filling;
    filling = null;
    if (closed || chunk.written == 0) {
      release(chunk);
      return;
    }
    askCommit(chunk);
    if (isBusy() || !commits.isReached(chunk.commit)) {
      waiting.addLast(isSmall(chunk) ? shrunk(chunk) : chunk);
      awaitCommit();
    } else {
      write(chunk);
      flushSending();
    }
  }

  /** The same bytes in a small chunk, if there is memory for one. */
  private Chunk shrunk(Chunk chunk) {
    Chunk copy;
    try {
      copy = acquire(small);
    } catch (OutOfMemoryError e) {
      return chunk;
    }
    copy.view().put(0, chunk.view(), 0, chunk.written);
    copy.written = chunk.written;
    copy.commit = chunk.commit;
    release(chunk);
    return copy;
  }

  private void write(Chunk chunk) {
    // Added before it is written, so that it has an owner whatever the write does.
    sending.addLast(chunk);
    context.write(chunk.toSend(), context.voidPromise());
  }

  private void flushSending() {
    context.flush();
    // After the end of the connection there is none.
    while (!sending.isEmpty() && sending.peekFirst().isUnshared()) {
      takenBytes += sending.peekFirst().written;
      release(sending.pollFirst());
    }
    if (!sending.isEmpty()) {
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
    if (sending.isEmpty() && mayFirstLeave()) {
      while (mayFirstLeave()) {
        write(waiting.pollFirst());
      }
      flushSending();
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
      release(chunk);
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
      write(waiting.pollFirst());
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
      release(chunks.pollFirst());
    }
  }
}
