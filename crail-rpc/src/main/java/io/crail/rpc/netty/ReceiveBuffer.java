/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * The memory into which a connection receives. It is a chunk of the loop, which the connection has
 * during a read and while it holds bytes that were not dropped. New bytes are read directly after
 * those of an incomplete frame, so a read allocates nothing and copies next to nothing. A read may
 * be in progress while bytes are dropped, since io_uring gets its destination early. So bytes are
 * moved only before a read begins. An idle connection has no chunk. Used only by the connection's
 * thread.
 */
final class ReceiveBuffer implements RecvByteBufAllocator {
  // Frames are small. A peer that sends more at once gets another turn.
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

  /** True when there is enough room for a read to be worth it. */
  boolean hasRoom() {
    return pool.capacity() - length() >= pool.capacity() / 4;
  }

  /** The length of the chunk that this holds, in bytes. */
  int heldBytes() {
    return chunk == null ? 0 : pool.capacity();
  }

  /**
   * The error of a read that got no memory, or null. The connection must end when the read is
   * complete.
   */
  OutOfMemoryError refusal() {
    return refusal;
  }

  /** Notes a read into this buffer, and releases the reference that came with it. */
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

  /** Gives the chunk back if it is empty and no read into it is in progress. */
  void giveBackIfEmpty() {
    if (chunk != null && start == end && chunk.isUnshared()) {
      giveBack();
    }
  }

  /** Drops all bytes. Nothing can be received any more. */
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
        // Bytes that still arrive are dropped.
        return alloc.directBuffer(1, 1);
      }
      if (chunk == null) {
        try {
          chunk = pool.acquire();
        } catch (OutOfMemoryError e) {
          // With io_uring the error would end the loop. Instead, a read of nothing ends at once.
          refusal = e;
          return Unpooled.EMPTY_BUFFER;
        }
      }
      // A channel begins no read before the previous one has ended.
      moveToFront();
      return chunk.buffer().setIndex(0, end).retain();
    }

    @Override
    protected int room() {
      return pool.capacity() - length();
    }
  }
}
