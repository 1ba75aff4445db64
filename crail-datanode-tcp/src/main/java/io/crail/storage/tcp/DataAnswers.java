/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.DoubleReleaseError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * Memory for answers, as the channel sends it. While sockets take their bytes at once, all
 * connections of an event loop reuse the same pieces. The piece used last comes first, since it is
 * still in the cache. A piece that a socket has not taken is freed when the socket has taken it,
 * and another piece replaces it. Used only by the thread of its loop.
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

  /** Notes that a frame was written after the earlier ones. */
  void add(int frameLength) {
    length += frameLength;
  }

  /** All frames, as a buffer with its own reference. */
  ByteBuf toSend() {
    return buffer.setIndex(0, length).retain();
  }

  /** True when the channel has sent all of it, or will send no more. */
  boolean isUnshared() {
    return buffer.refCnt() == 1;
  }

  /** The pieces of one size that are not in use. */
  static final class Spare {
    private final int capacity;
    private final int most;
    private final ArrayDeque<DataAnswers> idle;

    /**
     * Creates an empty list.
     *
     * @param most most pieces that are kept
     */
    Spare(int capacity, int most) {
      this.capacity = capacity;
      this.most = most;
      this.idle = new ArrayDeque<>(most);
    }

    /** A piece without frames: the piece that was used last. */
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
