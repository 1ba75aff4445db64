/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Receives for a data connection: frame headers and small data into a buffer of its own, large data
 * straight to their place. Before each read of the socket it asks the connection where the bytes
 * go. A read goes through one {@link RetargetableBuf}, so it allocates nothing. Used only by the
 * connection's thread.
 */
@SuppressWarnings("deprecation") // Netty's own base class of handles is deprecated as well.
public final class Receiver implements RecvByteBufAllocator {
  /** What the connection expects next. */
  public interface Expectation {
    /**
     * Points {@code window} at the place of the next data.
     *
     * @return false when the next bytes go to the receiver's own buffer
     */
    boolean place(RetargetableBuf window);

    /** Nothing more is received at the place that {@link #place} pointed at. */
    default void placed() {}

    /** The most bytes to receive into the receiver's own buffer now, at least 1. */
    int wanted();
  }

  // Data come in pieces as large as the socket holds, so a block takes several reads.
  private static final int MAX_READS = 16;

  private final Expectation expectation;
  private final ByteBuf memory;
  private final ByteBuffer bytes;
  private final ByteBuffer view;
  private final RetargetableBuf window = new Target();
  private int start;
  private int end;
  private int windowStart;
  private boolean placed;

  /**
   * Creates a receiver.
   *
   * @param capacity bytes of its own buffer
   */
  public Receiver(Expectation expectation, int capacity) {
    this.expectation = expectation;
    this.memory = UnpooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
    this.bytes = memory.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
    this.view = memory.nioBuffer(0, capacity);
  }

  /** The receiver's own buffer, little-endian; only absolute access. */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Where the bytes that are not taken yet begin in {@link #bytes()}. */
  public int offset() {
    return start;
  }

  /** The number of bytes that are not taken yet. */
  public int available() {
    return end - start;
  }

  /** Room for more bytes, once the taken ones are removed. */
  public int room() {
    return bytes.capacity() - available();
  }

  /** Takes the first bytes. */
  public void take(int count) {
    start += count;
  }

  /**
   * Notes a read, and releases the reference that came with it.
   *
   * @return the number of bytes that went straight to their place, 0 for the own buffer
   */
  public int received(Object message) {
    if (message != window) {
      throw new IllegalStateException("a read into another buffer: " + message);
    }
    int count = window.writerIndex() - windowStart;
    window.release();
    if (placed) {
      return count;
    }
    end += count;
    return 0;
  }

  /** Releases the own buffer. Nothing may be received any more. */
  public void release() {
    memory.release();
    window.letGo();
  }

  @Override
  public Handle newHandle() {
    return new ReadHandle();
  }

  /** A window that knows when the channel has finished with it, whether or not bytes came. */
  private final class Target extends RetargetableBuf {
    @Override
    public boolean release() {
      boolean freed = super.release();
      if (placed && isIdle()) {
        expectation.placed();
      }
      return freed;
    }
  }

  private final class ReadHandle extends BoundedReads {
    ReadHandle() {
      super(MAX_READS);
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator alloc) {
      placed = available() == 0 && expectation.place(window);
      if (!placed) {
        makeRoom();
        int length = Math.min(bytes.capacity() - end, expectation.wanted());
        window.toReceive(view, end, length);
      }
      windowStart = window.writerIndex();
      return window.retain();
    }

    private void makeRoom() {
      if (start == end) {
        start = 0;
        end = 0;
      } else if (start > 0) {
        int rest = end - start;
        bytes.put(0, bytes, start, rest);
        start = 0;
        end = rest;
      }
    }

    @Override
    protected int room() {
      return Receiver.this.room();
    }
  }
}
