/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/** A piece of output memory. Used only by the thread of its loop. */
final class Chunk {
  /** Bytes of a chunk, enough for two of the longest frames. */
  static final int CAPACITY = 128 * 1024;

  private final ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer(CAPACITY, CAPACITY);
  private final ByteBuffer view = buffer.nioBuffer(0, CAPACITY).order(ByteOrder.LITTLE_ENDIAN);

  private Chunk() {}

  /** The memory, little-endian; only absolute access. */
  ByteBuffer view() {
    return view;
  }

  /** The first bytes as Netty writes them, with a reference of their own. */
  ByteBuf toSend(int bytes) {
    return buffer.setIndex(0, bytes).retain();
  }

  /** True when nobody but the owner refers to the memory, so all of it was sent. */
  boolean isSent() {
    return buffer.refCnt() == 1;
  }

  /** Gives the owner's reference back. */
  void release() {
    buffer.release();
  }

  /**
   * The idle chunks of one loop. Connections share them, so an idle connection holds none, and the
   * chunk that was used last, still in the cache, is used next.
   */
  static final class Pool {
    private static final int MAX_IDLE = 64;

    private final ArrayDeque<Chunk> idle = new ArrayDeque<>(MAX_IDLE);
    private boolean closed;

    Chunk acquire() {
      Chunk chunk = idle.pollLast();
      return chunk == null ? new Chunk() : chunk;
    }

    void release(Chunk chunk) {
      if (closed || idle.size() == MAX_IDLE || !chunk.isSent()) {
        chunk.release();
      } else {
        idle.addLast(chunk);
      }
    }

    void close() {
      closed = true;
      idle.forEach(Chunk::release);
      idle.clear();
    }
  }
}
