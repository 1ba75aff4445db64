/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;

/**
 * The extents of a node, in the order of their file offsets and without gaps, and the number of
 * committed bytes; or the bytes of a small value. Most nodes have one extent, so a single {@link
 * Allocation} is a list by itself. Changed under the node's monitor, read by any thread.
 *
 * <p>Size and extents belong together, since the bytes after a seal will lie elsewhere. So a node
 * gets a new object when an extent is sealed, and the size of the old object does not change any
 * more. A reader that takes size and extents from the same object sees a consistent state.
 */
public abstract class NodeSpace {
  private volatile long size;

  /** The number of bytes that readers see. */
  public final long size() {
    return size;
  }

  /** Makes bytes visible. Under the node's monitor. */
  public final void commit(long newSize) {
    size = newSize;
  }

  /** All visible bytes of a small value. Null for other nodes, whose bytes lie in the extents. */
  public byte[] small() {
    return null;
  }

  /** The number of extents. */
  public abstract int count();

  /** The extent at an index below {@link #count()}. */
  public abstract Allocation at(int index);

  /** These extents and one more, with the same size. */
  public abstract NodeSpace with(Allocation next);

  /** The position after the last byte of the last extent; 0 when there is none. */
  public final long end() {
    int count = count();
    return count == 0 ? 0 : at(count - 1).fileEnd();
  }

  /**
   * The index of the extent that holds {@code position}; {@link #count()} when it is after all
   * extents.
   */
  public final int indexOf(long position) {
    int low = 0;
    int high = count();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (at(middle).fileEnd() <= position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Writes the extents {@code from} (inclusive) to {@code to} (exclusive), in the form of the wire,
   * for readers. Leaves out the bytes from {@code committed} on, since they may still move.
   */
  public final void encode(int from, int to, long committed, ByteBuffer out, int offset) {
    int at = offset;
    for (int i = from; i < to; i++) {
      at(i).encode(committed, out, at);
      at += Extent.WIRE_LENGTH;
    }
  }
}
