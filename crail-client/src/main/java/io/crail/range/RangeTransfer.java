/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.CrailBuffer;
import io.crail.CrailResult;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

/**
 * Bytes that are read as one: one range into direct memory, or near ranges of one file for the
 * heap. A read into direct memory is in flight from {@link #issue} on. A read for the heap is too,
 * if it has a {@linkplain #place place} of direct memory to go through. Otherwise {@link #end} does
 * all of it. Used by one thread.
 */
final class RangeTransfer {
  private final PositionedReader file;
  private final long position;
  private final List<RangeRead> ranges = new ArrayList<>(1);

  /** Where the last of the ranges ends. */
  private long end;

  /** The direct memory that ranges of the heap go through; else null. */
  private CrailBuffer place;

  /** The read into direct memory; null when there is none, or it could not be issued. */
  private Future<CrailResult> issued;

  private Exception failure;

  RangeTransfer(RangeRead range) {
    file = range.file();
    position = range.position();
    end = position;
    add(range);
  }

  private void add(RangeRead range) {
    ranges.add(range);
    end = range.end();
  }

  /** Adds a range that follows the present ones, if it is near; false when it is not. */
  boolean join(RangeRead range, int maxGapBytes) {
    boolean near =
        range.file() == file
            && range.position() >= end
            && range.position() - end <= maxGapBytes
            && range.end() - position <= RangeMemory.MAX_LENGTH;
    if (near) {
      add(range);
    }
    return near;
  }

  /** True when this has to go through other memory to be in flight. */
  boolean needsMemory() {
    return end - position <= RangeMemory.MAX_LENGTH;
  }

  /** Takes the memory to go through; false when there is none now. */
  boolean place(RangeMemory memory) {
    try {
      place = memory.take((int) (end - position));
    } catch (Exception e) {
      failure = e;
    }
    return place != null || failure != null;
  }

  /** Issues the read. {@link #end} tells a failure of this. */
  void issue() {
    if (failure != null) {
      return;
    }
    try {
      issued =
          place != null
              ? file.issue(position, place)
              : file.issue(position, ranges.get(0).target().duplicate());
    } catch (Exception e) {
      failure = e;
    }
  }

  /**
   * Waits for the bytes and ends the ranges, with the error if there is one.
   *
   * @param memory what {@link #place} was given
   */
  void end(RangeMemory memory) {
    try {
      if (failure != null) {
        throw failure;
      }
      int count = await();
      ByteBuffer arrived = place == null ? null : place.getByteBuffer();
      for (RangeRead range : ranges) {
        int offset = (int) (range.position() - position);
        range.arrived(arrived, offset, count - offset);
      }
    } catch (Exception e) {
      // A read that has not ended in time keeps its memory.
      boolean late = issued != null && !issued.isDone();
      if (late && place != null) {
        memory.late(issued);
      }
      ranges.forEach(range -> range.failed(e, late && place == null));
    }
  }

  private int await() throws Exception {
    if (issued != null) {
      return PositionedReader.await(issued);
    }
    int count = 0;
    for (RangeRead range : ranges) {
      int offset = (int) (range.position() - position);
      count = offset + Math.max(0, file.read(range.position(), range.target()));
      if (count < range.end() - position) {
        break;
      }
    }
    return count;
  }
}
