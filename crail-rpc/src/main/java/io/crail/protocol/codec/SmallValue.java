/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.codec;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The bytes of a small value, which travel with the metadata and stay at the namenode. Immutable,
 * as long as no code that shares its array changes it.
 */
public final class SmallValue {
  /** Most bytes of a small value, so that every message that carries one fits into a frame. */
  public static final int MAX_LENGTH = 64 << 10;

  /** No bytes. */
  public static final SmallValue NONE = new SmallValue(new byte[0]);

  public static final String MEANING = "the bytes of a small value, which has no extents";

  private final byte[] bytes;

  private SmallValue(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The bytes of an array, which becomes part of this. */
  public static SmallValue of(byte[] bytes) {
    return bytes.length == 0 ? NONE : new SmallValue(bytes);
  }

  /** A copy of bytes in a buffer, read at an absolute offset. */
  public static SmallValue copyOf(ByteBuffer buffer, int offset, int length) {
    if (length == 0) {
      return NONE;
    }
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    return new SmallValue(bytes);
  }

  /** The number of bytes. */
  public int length() {
    return bytes.length;
  }

  /** The array itself; it must not be changed. */
  public byte[] bytes() {
    return bytes;
  }

  /** Copies all bytes into a buffer, at an absolute offset. */
  public void copyTo(ByteBuffer buffer, int offset) {
    buffer.put(offset, bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SmallValue && Arrays.equals(bytes, ((SmallValue) other).bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
