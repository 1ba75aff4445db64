/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One command, its data, and what happens when it ends. Its owner may use it again after it has
 * ended. Used only in the loop of its queue.
 */
public abstract class NvmeRequest {
  /** Which way the data of a command go. */
  public enum Direction {
    /** There are none. */
    NONE,
    /** From the controller. */
    TO_HOST,
    /** To the controller. */
    TO_CONTROLLER
  }

  private Direction direction = Direction.NONE;
  private ByteBuffer root;
  private ByteBuffer view;
  private int offset;
  private int length;

  /** Creates a request without data. */
  protected NvmeRequest() {}

  /** Direct little-endian memory for data. */
  public static ByteBuffer newMemory(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Sets the data of the next use.
   *
   * @param newRoot the memory that the view was made of, which is the same object at the next use;
   *     a device that has to know memory gets this
   * @param newView direct memory that has no other user during that time, since position and limit
   *     change
   */
  protected final void data(
      Direction newDirection,
      ByteBuffer newRoot,
      ByteBuffer newView,
      int newOffset,
      int newLength) {
    direction = newDirection;
    root = newRoot;
    view = newView;
    offset = newOffset;
    length = newLength;
  }

  /** Writes the command; see {@link NvmeCommand}. */
  public abstract void encode(ByteBuffer out, int at);

  /**
   * The command has ended. The data of a read are in their place.
   *
   * @param status see {@link NvmeStatus}
   * @param result the two first words of the completion
   */
  public abstract void ended(int status, long result);

  /** The queue is lost. It is unknown whether the command was or will be executed. */
  public abstract void lost(String cause);

  /**
   * True when the memory must not be touched any more, so that the data of a read are dropped when
   * they come. The request still ends. Not every queue can do so; see {@link
   * NvmeQueue#leavesMemoryAlone}.
   */
  public boolean isGivenUp() {
    return false;
  }

  /** True when a read may succeed with fewer data than there is memory. */
  public boolean mayBeShort() {
    return false;
  }

  /** Which way the data go. */
  public final Direction direction() {
    return direction;
  }

  /** The memory that {@link #view} was made of. */
  public final ByteBuffer root() {
    return root;
  }

  /** The memory of the data. */
  public final ByteBuffer view() {
    return view;
  }

  /** The first byte of the data in the memory. */
  public final int offset() {
    return offset;
  }

  /** Bytes of data. */
  public final int length() {
    return length;
  }
}
