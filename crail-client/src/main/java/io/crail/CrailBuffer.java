/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.nio.ByteBuffer;

/**
 * Memory outside the Java heap with a position and a limit, big-endian, like a direct {@link
 * ByteBuffer}. Streams read into it and write from it without a copy. Not thread-safe. While an
 * operation uses the buffer, no other code may touch its bytes.
 */
public interface CrailBuffer {
  /** {@return the capacity in bytes} */
  int capacity();

  /** {@return the index at which the next access begins} */
  int position();

  /**
   * Sets the index at which the next access begins.
   *
   * @param position from 0 to the limit
   * @return this
   */
  CrailBuffer position(int position);

  /** {@return the index at which accesses end} */
  int limit();

  /**
   * Sets the index at which accesses end.
   *
   * @param limit from 0 to the capacity
   * @return this
   */
  CrailBuffer limit(int limit);

  /**
   * Sets position to 0 and limit to the capacity.
   *
   * @return this
   */
  CrailBuffer clear();

  /**
   * Sets limit to the position, and position to 0.
   *
   * @return this
   */
  CrailBuffer flip();

  /** {@return the number of bytes between position and limit} */
  int remaining();

  /** {@return true when position is below limit} */
  boolean hasRemaining();

  /** {@return a view of the bytes between position and limit, of the same region} */
  CrailBuffer slice();

  /**
   * {@return the address of the first byte of this view in the process's memory}
   *
   * @throws UnsupportedOperationException on a Java runtime before 22, which cannot find the
   *     address
   */
  long address();

  /** {@return the memory that this view was cut from} */
  CrailBuffer getRegion();

  /** {@return the memory as a direct buffer that shares this buffer's position and limit} */
  ByteBuffer getByteBuffer();

  /** {@return the next byte} */
  byte get();

  /**
   * Writes a byte.
   *
   * @param value the byte
   * @return the direct buffer of this memory
   */
  ByteBuffer put(byte value);

  /**
   * Reads bytes.
   *
   * @param target receives the bytes
   * @param offset where in {@code target} the first byte goes
   * @param length bytes to read
   * @return this
   */
  CrailBuffer get(byte[] target, int offset, int length);

  /**
   * Writes bytes.
   *
   * @param source has the bytes
   * @param offset where in {@code source} the first byte is
   * @param length bytes to write
   * @return this
   */
  CrailBuffer put(byte[] source, int offset, int length);

  /**
   * Reads as many bytes as {@code target} is long.
   *
   * @param target receives the bytes
   * @return this
   */
  CrailBuffer get(byte[] target);

  /**
   * Writes all bytes of {@code source}.
   *
   * @param source has the bytes
   * @return this
   */
  CrailBuffer put(byte[] source);

  /** {@return the next two bytes} */
  short getShort();

  /**
   * Writes two bytes.
   *
   * @param value the number
   * @return this
   */
  CrailBuffer putShort(short value);

  /** {@return the next four bytes} */
  int getInt();

  /**
   * Writes four bytes.
   *
   * @param value the number
   * @return this
   */
  CrailBuffer putInt(int value);

  /** {@return the next eight bytes} */
  long getLong();

  /**
   * Writes eight bytes.
   *
   * @param value the number
   * @return this
   */
  CrailBuffer putLong(long value);

  /** {@return the next four bytes} */
  float getFloat();

  /**
   * Writes four bytes.
   *
   * @param value the number
   * @return this
   */
  CrailBuffer putFloat(float value);

  /** {@return the next eight bytes} */
  double getDouble();

  /**
   * Writes eight bytes.
   *
   * @param value the number
   * @return this
   */
  CrailBuffer putDouble(double value);

  /**
   * Writes all that remains in {@code source}.
   *
   * @param source has the bytes; its position moves to its limit
   * @return this
   */
  CrailBuffer put(ByteBuffer source);

  /**
   * Reads as many bytes as remain in {@code target}.
   *
   * @param target receives the bytes; its position moves to its limit
   * @return this
   */
  CrailBuffer get(ByteBuffer target);
}
