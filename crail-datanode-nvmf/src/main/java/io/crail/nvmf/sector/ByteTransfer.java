/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.sector;

import io.crail.nvmf.NvmeStatus;
import java.nio.ByteBuffer;

/**
 * A read or write of bytes. Its owner may use it again after it has ended. Used only in the loop.
 */
public abstract class ByteTransfer {
  private boolean write;
  private ByteBuffer root;
  private ByteBuffer view;
  private ByteBuffer copied;
  private int offset;
  private int length;
  private long position;

  // Bytes from the first one that have been handed to commands, and commands that have not ended.
  private int begun;
  private int open;
  private int status;
  private String lost;

  /** Creates a transfer; {@link #prepare} follows. */
  protected ByteTransfer() {}

  /**
   * Sets the next use.
   *
   * @param newRoot the memory that the view was made of
   * @param newView direct memory that has no other user during that time, since position and limit
   *     change
   * @param newOffset first byte in the memory
   * @param newLength bytes, at least 1
   * @param newPosition first byte in the namespace
   */
  protected final void prepare(
      boolean isWrite,
      ByteBuffer newRoot,
      ByteBuffer newView,
      int newOffset,
      int newLength,
      long newPosition) {
    write = isWrite;
    root = newRoot;
    view = newView;
    offset = newOffset;
    length = newLength;
    position = newPosition;
    begun = 0;
    open = 0;
    status = NvmeStatus.OK;
    lost = null;
  }

  /** All bytes have arrived, or are placed; or a command has failed, with this status. */
  protected abstract void ended(int endStatus);

  /** The queue is lost. It is unknown which bytes of a write were or will be placed. */
  protected abstract void lost(String cause);

  /**
   * True when the memory must not be touched any more. The owner ends the queue before it takes the
   * memory of a write away.
   */
  protected abstract boolean isGivenUp();

  final boolean isWrite() {
    return write;
  }

  final ByteBuffer root() {
    return root;
  }

  /**
   * The user's memory for a command. Each command has a view of its own, since a channel that has
   * sent a part of one keeps its position.
   *
   * @param bytes bytes of the command
   */
  final ByteBuffer viewFor(int bytes) {
    return bytes == length ? view : view.duplicate().clear();
  }

  /** The user's memory to copy from or to, whose limit does not change. */
  final ByteBuffer copied() {
    if (copied == null) {
      copied = view.duplicate().clear();
    }
    return copied;
  }

  final int offset() {
    return offset;
  }

  final int length() {
    return length;
  }

  final long position() {
    return position;
  }

  final int begun() {
    return begun;
  }

  /** True once all bytes were handed to commands, or a command has failed. */
  final boolean isAllBegun() {
    return begun == length || status != NvmeStatus.OK;
  }

  /** The next bytes are handed to a command. */
  final void begin(int bytes) {
    begun += bytes;
    open++;
  }

  /** A command for some of the bytes has ended. */
  final void pieceEnded(int pieceStatus) {
    if (status == NvmeStatus.OK) {
      status = pieceStatus;
    }
    open--;
    endIfDone();
  }

  /** A command for some of the bytes is lost with its queue. */
  final void pieceLost(String cause) {
    lost = cause;
    open--;
    endIfDone();
  }

  private void endIfDone() {
    if (open > 0 || lost == null && !isAllBegun()) {
      return;
    }
    // Keeps no memory of the user's.
    root = null;
    view = null;
    copied = null;
    if (lost != null) {
      lost(lost);
    } else {
      ended(status);
    }
  }

  /**
   * Reports that the queue is lost. The transfer ends with its last command that is in flight, or
   * now when there is none.
   */
  public final void queueLost(String cause) {
    lost = cause;
    endIfDone();
  }
}
