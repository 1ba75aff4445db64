/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.DoubleReleaseError;
import io.crail.rpc.CommitQueue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * A piece of memory that a connection writes into or receives into. At each moment it has one
 * owner: its pool, or the object that has taken it from the pool and will give it back once. Used
 * only by the thread of its loop.
 */
final class Chunk {
  private final ByteBuf buffer;
  private final ByteBuffer view;
  private boolean idle;

  /** The length of the whole frames to be sent, from the beginning of the chunk. */
  int written;

  /** Whether some of them rest on changes, and do not know yet what they wait for. */
  boolean rests;

  /** The commit that these frames wait for; see {@link CommitQueue#position}. */
  long commit;

  private Chunk(ByteBufAllocator memory, int capacity) {
    this.buffer = memory.directBuffer(capacity, capacity);
    this.view = buffer.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The memory, little-endian; only absolute access. */
  ByteBuffer view() {
    return view;
  }

  /** The memory as Netty reads and writes it. */
  ByteBuf buffer() {
    return buffer;
  }

  /** The written bytes as Netty sends them, with their own reference. */
  ByteBuf toSend() {
    return buffer.setIndex(0, written).retain();
  }

  /** Bytes of the memory. */
  int capacity() {
    return view.capacity();
  }

  /** True when only the owner refers to the memory, so no channel uses it any more. */
  boolean isUnshared() {
    return buffer.refCnt() == 1;
  }

  /**
   * The idle chunks of one loop. Connections share them, so an idle connection holds none. The
   * chunk that was used last is used next, since it is still in the cache.
   */
  static final class Pool {
    private final ByteBufAllocator memory;
    private final int capacity;
    private final int mostIdle;
    private final ArrayDeque<Chunk> idle = new ArrayDeque<>();
    private boolean closed;

    /**
     * Creates a pool without chunks.
     *
     * @param capacity bytes of a chunk
     * @param mostIdle the most idle chunks that are kept
     */
    Pool(ByteBufAllocator memory, int capacity, int mostIdle) {
      this.memory = memory;
      this.capacity = capacity;
      this.mostIdle = mostIdle;
    }

    /**
     * Takes a chunk.
     *
     * @throws OutOfMemoryError when there is no memory for another one
     */
    Chunk acquire() {
      Chunk last = idle.pollLast();
      Chunk chunk = last == null ? new Chunk(memory, capacity) : last;
      chunk.idle = false;
      chunk.written = 0;
      chunk.rests = false;
      chunk.commit = CommitQueue.NOTHING;
      return chunk;
    }

    /** Takes a chunk back. A channel may still refer to it. */
    void release(Chunk chunk) {
      if (chunk.idle) {
        throw new DoubleReleaseError("a chunk");
      }
      chunk.idle = true;
      if (closed || idle.size() == mostIdle || !chunk.isUnshared()) {
        chunk.buffer.release();
      } else {
        idle.addLast(chunk);
      }
    }

    int capacity() {
      return capacity;
    }

    void close() {
      closed = true;
      idle.forEach(chunk -> chunk.buffer.release());
      idle.clear();
    }
  }
}
