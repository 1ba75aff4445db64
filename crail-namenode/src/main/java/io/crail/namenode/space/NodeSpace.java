/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;

/**
 * The extents of a node, in the order of their file offsets and without gaps, and how many of their
 * bytes are committed; or the bytes of a small value. Most nodes have one extent, so one {@link
 * Allocation} is a list by itself. Changed under the node's monitor, read by anybody.
 *
 * <p>Size and extents belong together: where an extent is sealed, the bytes after the seal come to
 * lie elsewhere. So a node gets another object then, and the size of the one before stays at what
 * it was: whoever takes size and extents from one object has the whole truth of one moment.
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

  /** All bytes that readers see, of a small value; else null, and they lie in the extents. */
  public byte[] small() {
    return null;
  }

  /** The number of extents. */
  public abstract int count();

  /** The extent of an index below {@link #count()}. */
  public abstract Allocation at(int index);

  /** These extents and one more, with the same size. */
  public abstract NodeSpace with(Allocation next);

  /** The position after the last byte of the last extent; 0 when there is none. */
  public final long end() {
    int count = count();
    return count == 0 ? 0 : at(count - 1).fileEnd();
  }

  /** The index of the extent that holds {@code position}, or the count when it is after all. */
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
   * Writes the extents {@code from} (inclusive) to {@code to} (exclusive), as on the wire, for
   * readers: nothing from {@code committed} on, for that may come to lie elsewhere.
   */
  public final void encode(int from, int to, long committed, ByteBuffer out, int offset) {
    int at = offset;
    for (int i = from; i < to; i++) {
      at(i).encode(committed, out, at);
      at += Extent.WIRE_LENGTH;
    }
  }
}
