/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Where a connection receives: a chunk of its loop, which it has while it holds bytes that were not
 * dropped, and during a read. The socket is read straight after the bytes of a frame that has not
 * arrived whole, so nothing is allocated for a read and next to nothing is copied. A read may be
 * under way while bytes are dropped, for io_uring is told where to early: nothing moves but before
 * a read begins. A connection that is idle has no chunk. Used only by the connection's thread.
 */
final class ReceiveBuffer implements RecvByteBufAllocator {
  // Frames are small; a peer that sends more at once has its turn again.
  private static final int MAX_READS = 4;

  private final Chunk.Pool pool;
  private Chunk chunk;
  private int start;
  private int end;
  private boolean closed;
  private OutOfMemoryError refusal;

  ReceiveBuffer(Chunk.Pool pool) {
    this.pool = pool;
  }

  /** The received bytes, little-endian; only absolute access, and only when there are some. */
  ByteBuffer view() {
    return chunk.view();
  }

  /** Where in the view the bytes begin that are not yet dropped. */
  int start() {
    return start;
  }

  /** Bytes received and not yet dropped. */
  int length() {
    return end - start;
  }

  /** True when a read into this is worth it. */
  boolean hasRoom() {
    return pool.capacity() - length() >= pool.capacity() / 4;
  }

  /** Bytes of the memory that this holds. */
  int heldBytes() {
    return chunk == null ? 0 : pool.capacity();
  }

  /** Why a read had no memory, or null; its connection is to end when the read is complete. */
  OutOfMemoryError refusal() {
    return refusal;
  }

  /** Takes note of a read into this buffer, and of the reference that came with it. */
  void received(Object message) {
    ByteBuf buffer = chunk == null ? null : chunk.buffer();
    if (message != buffer) {
      throw new IllegalStateException("a read into another buffer: " + message);
    }
    end = buffer.writerIndex();
    buffer.release();
  }

  /** Drops the first bytes. */
  void drop(int bytes) {
    start += bytes;
  }

  private void moveToFront() {
    if (start > 0) {
      if (end > start) {
        chunk.buffer().setBytes(0, chunk.buffer(), start, end - start);
      }
      end -= start;
      start = 0;
    }
  }

  /** Gives the chunk back when it is empty, and no read into it is under way. */
  void giveBackIfEmpty() {
    if (chunk != null && start == end && chunk.isUnshared()) {
      giveBack();
    }
  }

  /** Drops everything; nothing can be received any more. */
  void close() {
    closed = true;
    if (chunk != null) {
      giveBack();
    }
  }

  private void giveBack() {
    Chunk old = chunk;
    chunk = null;
    start = 0;
    end = 0;
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
        try {
          chunk = pool.acquire();
        } catch (OutOfMemoryError e) {
          // With io_uring it would end the loop. The read of nothing ends at once.
          refusal = e;
          return Unpooled.EMPTY_BUFFER;
        }
      }
      // A channel begins no read before the one before it has ended.
      moveToFront();
      return chunk.buffer().setIndex(0, end).retain();
    }

    @Override
    protected int room() {
      return pool.capacity() - length();
    }
  }
}
