/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.DoubleReleaseError;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * A piece of memory that frames are written into and sent from, without a copy. Used only by the
 * thread of its pool.
 */
final class SendChunk {
  /** The length of a chunk in bytes: two of the longest frames. */
  static final int CAPACITY = 2 * Frame.MAX_LENGTH;

  private final ByteBuffer view;
  private final long address;
  private final int localKey;
  private final Runnable release;

  /** The length of the whole frames in it, from the beginning. */
  int written;

  /** The number of bytes that were put into messages. */
  int sent;

  /** The number of messages that the device may still read from it. */
  int references;

  private boolean isIdle;

  /**
   * Wraps memory.
   *
   * @param view {@link #CAPACITY} bytes
   * @param address where the device finds these bytes
   * @param release gives them back
   */
  SendChunk(ByteBuffer view, long address, int localKey, Runnable release) {
    this.view = view.order(ByteOrder.LITTLE_ENDIAN);
    this.address = address;
    this.localKey = localKey;
    this.release = release;
  }

  /** The memory, little-endian; only absolute access. */
  ByteBuffer view() {
    return view;
  }

  /** The address of the memory for the device. */
  long address() {
    return address;
  }

  /** The key of its registration. */
  int localKey() {
    return localKey;
  }

  /** True when all written bytes were sent and the device does not read them any more. */
  boolean isDone() {
    return sent == written && references == 0;
  }

  /** The chunks of one thread and device. The one that was used last is used next. */
  static final class Pool {
    /** Makes new chunks. */
    interface Maker {
      SendChunk make() throws IOException;
    }

    private static final int MAX_IDLE = 32;

    private final Maker maker;
    private final ArrayDeque<SendChunk> idle = new ArrayDeque<>(MAX_IDLE);
    private int used;
    private boolean closed;

    Pool(Maker maker) {
      this.maker = maker;
    }

    /** Takes a chunk; fails when there is no more memory to register. */
    SendChunk acquire() throws IOException {
      SendChunk chunk = idle.pollLast();
      if (chunk == null) {
        chunk = maker.make();
      }
      used++;
      chunk.isIdle = false;
      return chunk;
    }

    void release(SendChunk chunk) {
      if (chunk.isIdle) {
        throw new DoubleReleaseError("a chunk");
      }
      chunk.isIdle = true;
      used--;
      chunk.written = 0;
      chunk.sent = 0;
      chunk.references = 0;
      if (closed || idle.size() == MAX_IDLE) {
        chunk.release.run();
      } else {
        idle.addLast(chunk);
      }
    }

    /** The number of chunks that are taken. */
    int used() {
      return used;
    }

    /** Releases the idle chunks now, and each other chunk when it is given back. */
    void close() {
      closed = true;
      idle.forEach(chunk -> chunk.release.run());
      idle.clear();
    }
  }
}
