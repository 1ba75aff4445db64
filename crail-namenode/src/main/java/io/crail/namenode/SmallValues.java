/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/** How large a small value may be, and how much memory all of them have. Thread-safe. */
final class SmallValues {
  private final int maxLength;
  private final long capacity;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates the account.
   *
   * @param maxLength most bytes of a small value; 0 when there are to be none
   * @param capacity most bytes of heap for all of them
   */
  SmallValues(int maxLength, long capacity) {
    this.maxLength = maxLength;
    this.capacity = capacity;
  }

  /** Most bytes of a small value; 0 when there are none. */
  int maxLength() {
    return maxLength;
  }

  /** Bytes of heap that small values take. */
  long used() {
    return used.get();
  }

  /**
   * Takes memory for a value.
   *
   * @param what whose value, for the error
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when it is too long, with {@link
   *     ErrorCode#NO_SPACE} when there is no memory: it has to go into extents then
   */
  void take(Object what, int length) throws CrailException {
    if (length > maxLength) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          what + ": a small value of " + length + " bytes, at most " + maxLength);
    }
    long footprint = SmallBytes.footprint(length);
    if (used.addAndGet(footprint) > capacity) {
      used.addAndGet(-footprint);
      throw ErrorCode.NO_SPACE.exception(
          what + ": small values have taken the " + capacity + " bytes of memory for them");
    }
  }

  /** Gives memory back. */
  void giveBack(int length) {
    used.addAndGet(-SmallBytes.footprint(length));
  }
}
