/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.CrailBuffer;
import io.crail.CrailResult;
import java.io.InterruptedIOException;
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

  /**
   * Takes a range that follows those that are here, if it is near and a buffer has room for all;
   * false when not.
   */
  boolean join(RangeRead range, int maxGapBytes, RangeMemory memory) {
    boolean joins =
        // What is out of range fails alone.
        range.file() == file
            && 0 <= position
            && position < end
            && end <= range.position()
            && range.position() - end <= maxGapBytes
            && hasRoom(memory, range.end() - position);
    if (joins) {
      add(range);
    }
    return joins;
  }

  /** Whether this can be in flight by way of the memory. */
  boolean hasRoom(RangeMemory memory) {
    return hasRoom(memory, end - position);
  }

  private boolean hasRoom(RangeMemory memory, long length) {
    try {
      return memory.hasRoom(length);
    } catch (Exception e) {
      failure = kept(e);
      return false;
    }
  }

  /** Takes the memory to go through, which has room; false when there is none now. */
  boolean place(RangeMemory memory) {
    try {
      place = memory.take((int) (end - position));
    } catch (Exception e) {
      failure = kept(e);
    }
    return place != null || failure != null;
  }

  /** Issues the read. {@link #end} reports a failure of this. */
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
      failure = kept(e);
    }
  }

  /** An error that is reported later. An interrupt shows at once too: it stays set. */
  private static Exception kept(Exception e) {
    if (!(e instanceof InterruptedException)) {
      return e;
    }
    Thread.currentThread().interrupt();
    return (Exception) new InterruptedIOException("interrupted").initCause(e);
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
      fail(kept(e), late && place == null);
    }
  }

  /** Ends the ranges with an error. */
  void fail(Exception cause, boolean bytesMayArrive) {
    ranges.forEach(range -> range.failed(cause, bytesMayArrive));
  }

  /** Bytes from the first one on; negative when the file ends before that. */
  private int await() throws Exception {
    if (issued != null) {
      return PositionedReader.await(issued);
    }
    int count = 0;
    for (RangeRead range : ranges) {
      int offset = (int) (range.position() - position);
      int read = file.read(range.position(), range.target());
      count = offset + (read < 0 && range.position() <= file.length() ? 0 : read);
      if (count < range.end() - position) {
        break;
      }
    }
    return count;
  }
}
