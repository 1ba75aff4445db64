/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Where a connection receives: a chunk of its loop, which it has while it holds bytes that were not
 * dropped, and during a read. The socket is read straight behind the bytes of a frame that has not
 * arrived whole, so nothing is allocated for a read and next to nothing is copied. A connection
 * that is idle has no chunk. Used only by the connection's thread.
 */
final class ReceiveBuffer implements RecvByteBufAllocator {
  // Frames are small; a peer that sends more at once has its turn again.
  private static final int MAX_READS = 4;

  private final Chunk.Pool pool;
  private Chunk chunk;
  private int length;
  private boolean closed;

  ReceiveBuffer(Chunk.Pool pool) {
    this.pool = pool;
  }

  /** The received bytes, little-endian; only absolute access, and only when there are some. */
  ByteBuffer view() {
    return chunk.view();
  }

  /** Bytes received and not yet dropped. */
  int length() {
    return length;
  }

  /** True when a read into this is worth it. */
  boolean hasRoom() {
    return pool.capacity() - length >= pool.capacity() / 4;
  }

  /** Bytes of the memory that this holds. */
  int heldBytes() {
    return chunk == null ? 0 : pool.capacity();
  }

  /** Takes note of a read into this buffer, and of the reference that came with it. */
  void received(Object message) {
    ByteBuf buffer = chunk == null ? null : chunk.buffer();
    if (message != buffer) {
      throw new IllegalStateException("a read into another buffer: " + message);
    }
    length = buffer.writerIndex();
    buffer.release();
  }

  /** Drops the first bytes; the rest moves to the front. */
  void drop(int bytes) {
    int rest = length - bytes;
    if (rest > 0 && bytes > 0) {
      chunk.buffer().setBytes(0, chunk.buffer(), bytes, rest);
    }
    length = rest;
  }

  /** Gives the chunk back when it is empty, and no read into it is under way. */
  void giveBackIfEmpty() {
    if (chunk != null && length == 0 && chunk.isUnshared()) {
      giveBack();
    }
  }

  /** Drops everything; nothing can be received any more. */
  void close() {
    closed = true;
    length = 0;
    if (chunk != null) {
      giveBack();
    }
  }

  private void giveBack() {
    Chunk old = chunk;
    chunk = null;
    pool.release(old);
  }

  @Override
  @SuppressWarnings("deprecation") // Netty's own base class of handles is deprecated as well.
  public Handle newHandle() {
    return new ReadHandle();
  }

  private final class ReadHandle extends BoundedReads {
    ReadHandle() {
      super(MAX_READS);
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator alloc) {
      if (closed) {
        // What still comes is nobody's.
        return alloc.directBuffer(1, 1);
      }
      if (chunk == null) {
        chunk = pool.acquire();
      }
      return chunk.buffer().setIndex(0, length).retain();
    }

    @Override
    protected int room() {
      return pool.capacity() - length;
    }
  }
}
