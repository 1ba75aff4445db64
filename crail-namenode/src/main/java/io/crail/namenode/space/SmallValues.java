/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/** How large a small value may be, and how much memory all of them have. Thread-safe. */
public final class SmallValues {
  private final int maxLength;
  private final long capacity;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates the account.
   *
   * @param maxLength most bytes of a small value; 0 when there are to be none
   * @param capacity most bytes of heap for all of them
   */
  public SmallValues(int maxLength, long capacity) {
    this.maxLength = maxLength;
    this.capacity = capacity;
  }

  /** Most bytes of a small value; 0 when there are none. */
  public int maxLength() {
    return maxLength;
  }

  /** Bytes of heap that small values take. */
  public long used() {
    return used.get();
  }

  /** True when a value is too long, or there is memory for it. */
  public boolean needsNoMore(int length) {
    return length > maxLength || used.get() + SmallBytes.footprint(length) <= capacity;
  }

  /**
   * Takes memory for a value. What the value before it has is as good as free, so that one can
   * always be overwritten by one that is no longer; for that moment both are counted.
   *
   * @param before the value in whose place this one comes, which is given back then; null for none
   * @return false when it is too long, or there is no memory: it has to go into extents then
   */
  public boolean take(int length, byte[] before) {
    if (length > maxLength) {
      return false;
    }
    long more = SmallBytes.footprint(length);
    long less = before == null ? 0 : SmallBytes.footprint(before.length);
    long present;
    do {
      present = used.get();
      if (more > less && present + more - less > capacity) {
        return false;
      }
    } while (!used.compareAndSet(present, present + more));
    return true;
  }

  /**
   * Why a value was not taken: {@link ErrorCode#LIMIT_EXCEEDED} when it is too long, {@link
   * ErrorCode#NO_SPACE} when there was no memory.
   *
   * @param what whose value
   */
  public CrailException refusal(Object what, int length) {
    return length > maxLength
        ? ErrorCode.LIMIT_EXCEEDED.exception(
            what + ": a small value of " + length + " bytes, at most " + maxLength)
        : ErrorCode.NO_SPACE.exception(
            what + ": small values have taken the " + capacity + " bytes of memory for them");
  }

  /** Gives memory back. */
  public void giveBack(int length) {
    used.addAndGet(-SmallBytes.footprint(length));
  }
}
