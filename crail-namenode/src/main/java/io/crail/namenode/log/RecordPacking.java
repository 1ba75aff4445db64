/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.protocol.codec.Codec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Packs the records of a snapshot, most of which are like the one before. A record is taken as
 * words of 8 bytes, the last one filled with zeros. Each word is combined by exclusive or with that
 * of the packed record before it in the same frame, if that is as long. What is left is a byte that
 * says which bytes of the word are not zero, the lowest one first, and these bytes. Those of a log
 * are not packed, since that takes time under the locks of what has changed. Not thread-safe.
 */
final class RecordPacking {
  /** Bit of the length of a record in a frame, which is that of the unpacked record. */
  static final int PACKED = Integer.MIN_VALUE;

  private static final int FIRST_CAPACITY = 1024;

  private ByteBuffer present = memory(FIRST_CAPACITY);
  private ByteBuffer before = memory(FIRST_CAPACITY);
  private int lengthBefore;

  private static ByteBuffer memory(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A frame begins. */
  void begin() {
    lengthBefore = 0;
  }

  /** The most bytes of a record in a frame. */
  static int most(int length) {
    return LogFrame.OF_RECORD + words(length) * (1 + Long.BYTES);
  }

  private static int words(int length) {
    return length / Long.BYTES + (length % Long.BYTES == 0 ? 0 : 1);
  }

  /** Appends a record at the position of a frame, which has room for it. */
  <T> void append(ByteBuffer frame, int kind, Codec<T> codec, T record) {
    if (frame.position() == LogFrame.HEADER) {
      begin();
    }
    int length = codec.length(record);
    ByteBuffer words = next(length);
    codec.encode(record, words, 0);
    int at = frame.position();
    frame.putInt(at, length | PACKED);
    frame.put(at + Integer.BYTES, (byte) kind);
    at += LogFrame.OF_RECORD;
    for (int i = 0; i < length; i += Long.BYTES) {
      int mask = 0;
      int maskAt = at++;
      for (long left = words.getLong(i) ^ before(i, length); left != 0; ) {
        int shift = Long.numberOfTrailingZeros(left) & -Byte.SIZE;
        mask |= 1 << shift / Byte.SIZE;
        frame.put(at++, (byte) (left >>> shift));
        left &= ~(0xffL << shift);
      }
      frame.put(maskAt, (byte) mask);
    }
    lengthBefore = length;
    frame.position(at);
  }

  /**
   * Unpacks a record.
   *
   * @param at where it begins in a frame, behind its length and kind
   * @param end where the records of the frame end
   * @param length bytes of the unpacked record
   * @return where the next one begins; -1 when there are no such bytes
   */
  int unpack(ByteBuffer frame, int at, int end, int length) {
    if (words(length) > end - at) {
      return -1;
    }
    ByteBuffer words = next(length);
    int from = at;
    for (int i = 0; i < length; i += Long.BYTES) {
      int mask = from < end ? frame.get(from++) & 0xff : 0xff;
      if (Integer.bitCount(mask) > end - from) {
        return -1;
      }
      long word = before(i, length);
      for (; mask != 0; mask &= mask - 1) {
        int shift = Integer.numberOfTrailingZeros(mask) * Byte.SIZE;
        word ^= (frame.get(from++) & 0xffL) << shift;
      }
      words.putLong(i, word);
    }
    lengthBefore = length;
    return from;
  }

  /** The record that was unpacked last, from the first byte on, until the next one is. */
  ByteBuffer bytes() {
    return present;
  }

  private long before(int index, int length) {
    return length == lengthBefore ? before.getLong(index) : 0;
  }

  /** Makes room for a record; the present one is the one before from now on. */
  private ByteBuffer next(int length) {
    ByteBuffer room = before;
    before = present;
    int needed = words(length) * Long.BYTES;
    if (room.capacity() < needed) {
      room = memory(needed);
    }
    if (needed > 0) {
      room.putLong(needed - Long.BYTES, 0);
    }
    present = room;
    return room;
  }
}
