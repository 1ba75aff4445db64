/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.DoubleReleaseError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * Memory for answers, as the channel sends it. While sockets take what they are given, all
 * connections of an event loop use the same pieces again and again, the last one first, which is
 * still in the cache; what a socket has not taken goes when it has, and is replaced. Used only by
 * the thread of its loop.
 */
final class DataAnswers {
  private final ByteBuf buffer;
  private final ByteBuffer bytes;
  private int length;
  private boolean idle;

  private DataAnswers(int capacity) {
    this.buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
    this.bytes = buffer.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The memory, little-endian; only absolute access. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** Bytes of whole frames. */
  int length() {
    return length;
  }

  /** Bytes of frames that are still to come. */
  int room() {
    return bytes.capacity() - length;
  }

  /** A frame has been written after the others. */
  void add(int frameLength) {
    length += frameLength;
  }

  /** All frames, with a reference of their own. */
  ByteBuf toSend() {
    return buffer.setIndex(0, length).retain();
  }

  /** True when the channel has sent all of it, or will send no more. */
  boolean isUnshared() {
    return buffer.refCnt() == 1;
  }

  /** The pieces of a size that nobody uses at the moment. */
  static final class Spare {
    private final int capacity;
    private final int most;
    private final ArrayDeque<DataAnswers> idle;

    /**
     * Nothing yet.
     *
     * @param most pieces that are kept
     */
    Spare(int capacity, int most) {
      this.capacity = capacity;
      this.most = most;
      this.idle = new ArrayDeque<>(most);
    }

    /** A piece without frames: the one that was used last. */
    DataAnswers take() {
      DataAnswers last = idle.pollLast();
      DataAnswers taken = last == null ? new DataAnswers(capacity) : last;
      taken.length = 0;
      taken.idle = false;
      return taken;
    }

    /** Takes a piece of this size back, which may not all be sent yet. */
    void giveBack(DataAnswers used) {
      if (used.idle) {
        throw new DoubleReleaseError("memory for answers");
      }
      used.idle = true;
      if (idle.size() < most && used.isUnshared()) {
        idle.addLast(used);
      } else {
        used.buffer.release();
      }
    }

    void release() {
      idle.forEach(piece -> piece.buffer.release());
      idle.clear();
    }
  }
}
