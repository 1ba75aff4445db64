/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.nio.ByteBuffer;

/**
 * Memory outside the Java heap with a position and a limit, big-endian, like a direct {@link
 * ByteBuffer}. Streams read into and write from it without a copy. Not thread-safe; an operation
 * that uses it must have ended before its bytes may be touched.
 */
public interface CrailBuffer {
  /** Bytes. */
  int capacity();

  /** Where the next access begins. */
  int position();

  /** Sets where the next access begins. */
  CrailBuffer position(int position);

  /** Where accesses end. */
  int limit();

  /** Sets where accesses end. */
  CrailBuffer limit(int limit);

  /** Sets position to 0 and limit to the capacity. */
  CrailBuffer clear();

  /** Sets limit to the position, and position to 0. */
  CrailBuffer flip();

  /** Bytes between position and limit. */
  int remaining();

  /** True when position is below limit. */
  boolean hasRemaining();

  /** A view of the bytes between position and limit, of the same region. */
  CrailBuffer slice();

  /**
   * Address of the first byte of this view in the process's memory.
   *
   * @throws UnsupportedOperationException on a Java runtime before 22, which does not tell it
   */
  long address();

  /** The memory that this view was cut from. */
  CrailBuffer getRegion();

  /** The memory as a direct buffer that shares this one's position and limit. */
  ByteBuffer getByteBuffer();

  /** Reads a byte. */
  byte get();

  /** Writes a byte. */
  ByteBuffer put(byte value);

  /** Reads bytes. */
  CrailBuffer get(byte[] target, int offset, int length);

  /** Writes bytes. */
  CrailBuffer put(byte[] source, int offset, int length);

  /** Reads bytes. */
  CrailBuffer get(byte[] target);

  /** Writes bytes. */
  CrailBuffer put(byte[] source);

  /** Reads two bytes. */
  short getShort();

  /** Writes two bytes. */
  CrailBuffer putShort(short value);

  /** Reads four bytes. */
  int getInt();

  /** Writes four bytes. */
  CrailBuffer putInt(int value);

  /** Reads eight bytes. */
  long getLong();

  /** Writes eight bytes. */
  CrailBuffer putLong(long value);

  /** Reads four bytes. */
  float getFloat();

  /** Writes four bytes. */
  CrailBuffer putFloat(float value);

  /** Reads eight bytes. */
  double getDouble();

  /** Writes eight bytes. */
  CrailBuffer putDouble(double value);

  /** Writes all that remains in {@code source}. */
  CrailBuffer put(ByteBuffer source);

  /** Reads as many bytes as remain in {@code target}. */
  CrailBuffer get(ByteBuffer target);
}
