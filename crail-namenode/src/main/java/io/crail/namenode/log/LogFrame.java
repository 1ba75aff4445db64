/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Some records that are written together: a header of {@link #HEADER} bytes, and the records. All
 * numbers are little-endian.
 *
 * <pre>
 *   0  i32  magic
 *   4  i32  CRC-32C of all that follows
 *   8  i32  bytes of the records
 *  12  i32  number of records; 0 in the last frame of a log that was closed
 *  16  i64  number of the segment that it is in
 *  24  i64  number of the first record here
 *  32  i64  number up to which all records were durable when this was written
 *  40  i64  when it was written, in milliseconds since 1970
 *  48  i64  the same in nanoseconds in which the namenode ran, over all its starts
 *  56  ...  records: i32 length, u8 kind, and the bytes of each; if the top bit of the length is
 *           set, they are packed, and it is the length of the unpacked record
 * </pre>
 *
 * <p>A frame begins at a multiple of {@link #PAGE} bytes, so no write touches bytes that another
 * one has written. The segment is in it, since a file may have bytes of an earlier one.
 */
final class LogFrame {
  /** Frames begin at multiples of it. */
  static final int PAGE = 4096;

  static final int HEADER = 56;

  /** Bytes of a record besides its own. */
  static final int OF_RECORD = 5;

  /** The most bytes of a frame. */
  static final int MOST = 64 << 20;

  static final int MAGIC = 0x4d524643;

  private LogFrame() {}

  /** Bytes of a frame with so many bytes of records. */
  static int padded(int length) {
    return (HEADER + length + PAGE - 1) / PAGE * PAGE;
  }

  /** Memory that can be written without a copy, since it begins at a page. */
  static ByteBuffer memory(int bytes) {
    ByteBuffer memory = ByteBuffer.allocateDirect(bytes + PAGE).alignedSlice(PAGE);
    return memory.slice(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** What a header says. */
  record Header(
      int length, int count, long segment, long first, long durable, long millis, long nanos) {
    /** Bytes from its begin to that of the next frame. */
    int padded() {
      return LogFrame.padded(length);
    }

    /** The number of the last record. */
    long last() {
      return first + count - 1;
    }
  }

  /** Begins a record at the position of a buffer, which stays there. */
  static void put(ByteBuffer frame, int kind, int length) {
    frame.order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(frame.position(), length);
    frame.put(frame.position() + Integer.BYTES, (byte) kind);
  }

  /** Fills a buffer with zeros, up to an index. */
  static void fill(ByteBuffer frame, int to) {
    while (frame.position() < to) {
      frame.put((byte) 0);
    }
  }

  /** Completes a buffer that has room for a header and the records behind it. */
  static void seal(ByteBuffer frame, Header header) {
    frame.order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(0, MAGIC);
    frame.putInt(8, header.length);
    frame.putInt(12, header.count);
    frame.putLong(16, header.segment);
    frame.putLong(24, header.first);
    frame.putLong(32, header.durable);
    frame.putLong(40, header.millis);
    frame.putLong(48, header.nanos);
    frame.putInt(4, sum(frame, header.length));
  }

  /**
   * Reads a header.
   *
   * @param page at least its bytes
   * @param room bytes that are left in the segment
   * @return null if it is none; its sum is not checked yet
   */
  static Header read(ByteBuffer page, long room) {
    page.order(ByteOrder.LITTLE_ENDIAN);
    Header header =
        new Header(
            page.getInt(8),
            page.getInt(12),
            page.getLong(16),
            page.getLong(24),
            page.getLong(32),
            page.getLong(40),
            page.getLong(48));
    boolean isOne =
        page.getInt(0) == MAGIC
            && header.length >= header.count * (long) OF_RECORD
            && header.length <= Math.min(MOST, room) - HEADER
            && header.count >= 0
            && header.durable < header.first;
    return isOne ? header : null;
  }

  /** Whether a whole frame is as it was written. */
  static boolean isWhole(ByteBuffer frame, Header header) {
    return frame.order(ByteOrder.LITTLE_ENDIAN).getInt(4) == sum(frame, header.length);
  }

  private static int sum(ByteBuffer frame, int length) {
    CRC32C sum = new CRC32C();
    sum.update(frame.duplicate().limit(HEADER + length).position(8));
    return (int) sum.getValue();
  }
}
