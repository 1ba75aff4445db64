/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailBuffer;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;

/** A value that was put, or is being put. Its first bytes identify it. */
final class Value {
  static final int LEAST_LENGTH = Long.BYTES;

  private final long id;
  private final int length;

  /** The node of the value; 0 while unknown. */
  long node;

  private boolean partial;

  Value(long id, int length) {
    this.id = id;
    this.length = length;
  }

  long id() {
    return id;
  }

  int length() {
    return length;
  }

  /** Sets whether it is being written, so that readers may find a part of it. */
  void partial(boolean isPartial) {
    partial = isPartial;
  }

  CrailBuffer buffer() {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    bytes.putLong(0, id);
    Pattern.fill(bytes, Long.BYTES, length, id, Long.BYTES);
    return OffHeapBuffer.wrap(bytes);
  }

  /** Fails unless the bytes are exactly those of this value. */
  void check(ByteBuffer found, int foundLength, String where) {
    if (foundLength > length || (foundLength < length && !partial)) {
      throw new AssertionError(where + ": " + foundLength + " bytes of " + this);
    }
    int wrong = Pattern.mismatch(found, Long.BYTES, foundLength, id, Long.BYTES);
    if (wrong < foundLength) {
      throw new AssertionError(where + ": byte " + wrong + " of " + this + " is wrong");
    }
  }

  @Override
  public String toString() {
    return "value " + Long.toHexString(id) + " of " + length + " bytes";
  }
}
