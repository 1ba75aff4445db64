/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.error.CrailException;
import io.crail.protocol.part.Extent;
import io.crail.rpc.loop.Completion;
import java.nio.ByteBuffer;

/**
 * One piece of a read or write: bytes of the user's memory and their place in one extent. Its owner
 * may use it again after it has ended.
 */
public class Transfer extends Completion {
  private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

  private ByteBuffer buffer;
  private ByteBuffer root;
  private int bufferOffset;
  private int length;
  private Extent extent;
  private int extentOffset;
  private long deadlineNanos;
  private Object attachment;
  private ByteBuffer viewed;
  private ByteBuffer view;

  /** Creates a transfer; {@link #prepare} or {@link #prepareFlush} follows. */
  public Transfer() {}

  /**
   * Sets the next use.
   *
   * @param newBuffer direct memory, or heap memory, which costs a copy over a network; position and
   *     limit are neither used nor changed
   * @param newBufferOffset first byte in the buffer
   * @param newLength bytes, at least 1
   * @param newExtent the extent
   * @param newExtentOffset first byte in the extent
   * @param newDeadlineNanos when the transfer fails with TIMED_OUT, by the clock of its loop
   */
  public final void prepare(
      ByteBuffer newBuffer,
      int newBufferOffset,
      int newLength,
      Extent newExtent,
      int newExtentOffset,
      long newDeadlineNanos) {
    if (newLength < 1
        || newBufferOffset < 0
        || newBufferOffset > newBuffer.capacity() - newLength
        || newExtentOffset < 0
        || newExtentOffset > newExtent.length() - newLength) {
      throw new IndexOutOfBoundsException(
          newLength
              + " bytes at "
              + newBufferOffset
              + " of "
              + newBuffer.capacity()
              + ", at "
              + newExtentOffset
              + " of "
              + newExtent.length());
    }
    reset();
    this.buffer = newBuffer;
    this.root = newBuffer;
    this.bufferOffset = newBufferOffset;
    this.length = newLength;
    this.extent = newExtent;
    this.extentOffset = newExtentOffset;
    this.deadlineNanos = newDeadlineNanos;
  }

  /**
   * Sets the next use, by which bytes become durable; it has none of its own.
   *
   * @param newExtent an extent of the region
   * @param newDeadlineNanos when it fails with TIMED_OUT, by the clock of its loop
   */
  public final void prepareFlush(Extent newExtent, long newDeadlineNanos) {
    reset();
    this.buffer = NOTHING;
    this.root = NOTHING;
    this.bufferOffset = 0;
    this.length = 0;
    this.extent = newExtent;
    this.extentOffset = 0;
    this.deadlineNanos = newDeadlineNanos;
  }

  /** The user's memory. */
  public final ByteBuffer buffer() {
    return buffer;
  }

  /**
   * Returns what the user's memory was cut from. Called after {@link #prepare}.
   *
   * @param newRoot memory that outlives this transfer, the same object for all buffers cut from it
   */
  public final void cutFrom(ByteBuffer newRoot) {
    this.root = newRoot;
  }

  /**
   * For endpoints: the memory that the user's memory was cut from, if that is known, else {@link
   * #buffer}. An endpoint recognizes memory that was used before by this object's identity.
   * Position and limit may change at any time.
   */
  public final ByteBuffer root() {
    return root;
  }

  /** The first byte in the user's memory. */
  public final int bufferOffset() {
    return bufferOffset;
  }

  /** Bytes to move. */
  public final int length() {
    return length;
  }

  /** The extent. */
  public final Extent extent() {
    return extent;
  }

  /** The region that the bytes are moved from or to. */
  public final int region() {
    return extent.region();
  }

  /** The generation of the extent's space in that region. */
  public final long generation() {
    return extent.generation();
  }

  /** The first byte in the extent. */
  public final int extentOffset() {
    return extentOffset;
  }

  /** The first byte in the region. */
  public final long regionOffset() {
    return extent.regionOffset() + extentOffset;
  }

  /**
   * The deadline. It may move while the transfer is under way, so an endpoint asks each time it
   * looks at the clock.
   */
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /**
   * For endpoints: the user's memory through a view of its own, whose position and limit the
   * endpoint may change. A new view is made only when the buffer differs from that of the previous
   * use.
   */
  public final ByteBuffer view() {
    if (viewed != buffer) {
      viewed = buffer;
      view = buffer.duplicate().clear();
    }
    return view;
  }

  /**
   * For endpoints: the object attached last, also by an earlier use of this transfer; null at
   * first.
   */
  public final Object attachment() {
    return attachment;
  }

  /**
   * For endpoints: keeps state with this transfer, so that its next use need not create it again.
   */
  public final void attach(Object newAttachment) {
    this.attachment = newAttachment;
  }

  /** For endpoints: ends this with success; false when it had ended before. */
  public final boolean end() {
    return succeed();
  }

  /** For endpoints: ends this with an error; false when it had ended before. */
  public final boolean end(CrailException cause) {
    return fail(cause);
  }
}
