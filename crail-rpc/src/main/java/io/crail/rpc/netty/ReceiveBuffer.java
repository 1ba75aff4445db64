/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The one buffer that a connection receives into, for as long as it lives: the socket is read
 * straight behind the bytes of a frame that has not arrived whole, so nothing is allocated for a
 * read and next to nothing is copied. Used only by the connection's thread.
 */
final class ReceiveBuffer implements RecvByteBufAllocator {
  // Frames are small; a peer that sends more at once has its turn again.
  private static final int MAX_READS = 4;

  private final ByteBuf buffer;
  private final ByteBuffer view;
  private int length;

  ReceiveBuffer(int capacity) {
    this.buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
    this.view = buffer.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The received bytes, little-endian; only absolute access. */
  ByteBuffer view() {
    return view;
  }

  /** Bytes received and not yet dropped. */
  int length() {
    return length;
  }

  /** Takes note of a read into this buffer, and of the reference that came with it. */
  void received(Object message) {
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
      buffer.setBytes(0, buffer, bytes, rest);
    }
    length = rest;
  }

  /** Releases the buffer; the view must not be used any more. */
  void release() {
    buffer.release();
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
      buffer.setIndex(0, length);
      return buffer.retain();
    }

    @Override
    protected int room() {
      return buffer.capacity() - length;
    }
  }
}
