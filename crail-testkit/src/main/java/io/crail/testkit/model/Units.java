/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Bytes that show where they belong. The content of a file is a run of units of {@value #LENGTH}
 * bytes. Each unit holds the id of its file, the operation that wrote it, its offset in the file,
 * and a checksum. So a test that finds a wrong byte can say which file it belongs to. An operation
 * that ends in the middle of a unit writes its head, and the next operation writes its tail.
 *
 * <pre>
 *  0        8       16          24       32       56         64
 *  | magic  | file  | operation | offset | filler | checksum |
 * </pre>
 */
public final class Units {
  /** Bytes of a unit. */
  public static final int LENGTH = 64;

  /** The operation of bytes that none has written, and that are 0. */
  public static final long ZEROS = 0;

  private static final long MAGIC = 0x4372_6169_6c55_6e69L;
  private static final int FILE_AT = 8;
  private static final int OPERATION_AT = 16;
  private static final int OFFSET_AT = 24;
  private static final int FILLER_AT = 32;
  private static final int CHECKSUM_AT = 56;
  private static final int CHUNK = 4096;
  private static final int COUNTER_BITS = 40;

  private Units() {}

  /** The id of an operation. The operation that creates a file gives the file its id. */
  public static long id(int writer, long counter) {
    return (long) writer << COUNTER_BITS | counter;
  }

  /** The writer of an id. */
  public static int writerOf(long id) {
    return (int) (id >>> COUNTER_BITS);
  }

  /** An id as text: the writer, then its counter. */
  public static String text(long id) {
    return writerOf(id) + "." + (id & (1L << COUNTER_BITS) - 1);
  }

  /**
   * Fills a buffer from its position to its limit. Position and limit stay.
   *
   * @param offset of the first byte in the file
   */
  public static void fill(ByteBuffer target, long file, long operation, long offset) {
    ByteBuffer unit = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    int at = target.position();
    long position = offset;
    if (operation == ZEROS) {
      target.put(at, new byte[target.remaining()]);
      at = target.limit();
    }
    while (at < target.limit()) {
      int skip = (int) (position % LENGTH);
      int length = Math.min(LENGTH - skip, target.limit() - at);
      make(unit, file, operation, position - skip);
      target.put(at, unit, skip, length);
      at += length;
      position += length;
    }
  }

  private static void make(ByteBuffer unit, long file, long operation, long offset) {
    unit.putLong(0, MAGIC);
    unit.putLong(FILE_AT, file);
    unit.putLong(OPERATION_AT, operation);
    unit.putLong(OFFSET_AT, offset);
    for (int at = FILLER_AT; at < CHECKSUM_AT; at += Long.BYTES) {
      unit.putLong(at, mix(file ^ mix(operation ^ mix(offset + at))));
    }
    unit.putLong(CHECKSUM_AT, checksum(file, operation, offset));
  }

  private static long checksum(long file, long operation, long offset) {
    return mix(mix(mix(MAGIC ^ file) ^ operation) ^ offset);
  }

  /** Stafford's mixer number 13. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
    return mixed ^ mixed >>> 31;
  }

  /**
   * Compares the bytes between two indexes with the bytes that an operation writes.
   *
   * @param offset of the first of them in the file
   * @return the index of the first difference, or -1
   */
  public static int mismatch(
      ByteBuffer bytes, int from, int to, long file, long operation, long offset) {
    ByteBuffer expected = ByteBuffer.allocate(Math.min(CHUNK, Math.max(0, to - from)));
    int at = from;
    while (at < to) {
      int length = Math.min(expected.capacity(), to - at);
      expected.clear().limit(length);
      fill(expected, file, operation, offset + at - from);
      int wrong = expected.mismatch(bytes.slice(at, length));
      if (wrong >= 0) {
        return at + wrong;
      }
      at += length;
    }
    return -1;
  }

  /** A whole unit. */
  public record Unit(long file, long operation, long offset) {
    @Override
    public String toString() {
      return "file "
          + text(file)
          + ", operation "
          + text(operation)
          + " of writer "
          + writerOf(operation)
          + ", offset "
          + offset;
    }
  }

  /** The unit that begins at an index; null when there is no whole unit. */
  public static Unit at(ByteBuffer bytes, int index) {
    if (index < 0 || index + LENGTH > bytes.limit()) {
      return null;
    }
    ByteBuffer unit = bytes.slice(index, LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    if (unit.getLong(0) != MAGIC) {
      return null;
    }
    long file = unit.getLong(FILE_AT);
    long operation = unit.getLong(OPERATION_AT);
    long offset = unit.getLong(OFFSET_AT);
    if (unit.getLong(CHECKSUM_AT) != checksum(file, operation, offset)) {
      return null;
    }
    ByteBuffer right = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    make(right, file, operation, offset);
    return right.equals(unit) ? new Unit(file, operation, offset) : null;
  }

  /** Describes whose bytes are at an index, by a unit that holds it or begins soon after it. */
  public static String describe(ByteBuffer bytes, int index) {
    for (int begin = index - LENGTH + 1; begin <= index + LENGTH; begin++) {
      Unit unit = at(bytes, begin);
      if (unit != null) {
        return unit + (begin == index ? "" : " (" + (begin - index) + " bytes further)");
      }
    }
    int zeros = index;
    while (zeros < bytes.limit() && bytes.get(zeros) == 0) {
      zeros++;
    }
    return zeros - index >= Long.BYTES ? zeros - index + " zeros" : "bytes of no writer";
  }

  /** The number of bytes between two indexes that differ from those that an operation writes. */
  public static int countMismatches(
      ByteBuffer bytes, int from, int to, long file, long operation, long offset) {
    ByteBuffer expected = ByteBuffer.allocate(to - from);
    fill(expected, file, operation, offset);
    int wrong = 0;
    for (int i = from; i < to; i++) {
      wrong += bytes.get(i) == expected.get(i - from) ? 0 : 1;
    }
    return wrong;
  }
}
