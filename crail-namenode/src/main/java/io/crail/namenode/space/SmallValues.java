/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import java.util.concurrent.atomic.AtomicLong;

/** The limits for small values: the length of each, and the memory of all. Thread-safe. */
public final class SmallValues {
  private final int maxLength;
  private final long capacity;
  private final HeapBudget budget;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates the account.
   *
   * @param maxLength most bytes of a small value; 0 for no small values
   * @param capacity most bytes of heap for all of them
   * @param budget the account of all heap, which has to have room for them too
   */
  public SmallValues(int maxLength, long capacity, HeapBudget budget) {
    this.maxLength = maxLength;
    this.capacity = capacity;
    this.budget = budget;
  }

  /** Most bytes of a small value; 0 when there are none. */
  public int maxLength() {
    return maxLength;
  }

  /** The account of all heap. */
  public HeapBudget budget() {
    return budget;
  }

  /** Bytes of heap that small values take. */
  public long used() {
    return used.get();
  }

  /** True when more memory would not help: the value is too long, or there is memory for it. */
  public boolean needsNoMore(int length) {
    long more = SmallBytes.footprint(length);
    return length > maxLength || (used.get() + more <= capacity && budget.hasRoom(more));
  }

  /**
   * Takes memory for a value. The memory of the replaced value counts as free, so a value can
   * always be overwritten by one that is not longer. For that moment both values are counted.
   *
   * @param before the replaced value, which the caller gives back afterwards; null for none
   * @return false when it is too long or there is no memory; then it must go into extents
   */
  public boolean take(int length, byte[] before) {
    if (length > maxLength) {
      return false;
    }
    long more = SmallBytes.footprint(length);
    long less = before == null ? 0 : SmallBytes.footprint(before.length);
    if (!budget.take(more, less)) {
      return false;
    }
    long present;
    do {
      present = used.get();
      if (more > less && present + more - less > capacity) {
        budget.give(more);
        return false;
      }
    } while (!used.compareAndSet(present, present + more));
    return true;
  }

  /**
   * The reason why a value was not taken: {@link ErrorCode#LIMIT_EXCEEDED} when it is too long,
   * {@link ErrorCode#NO_SPACE} when there was no memory for it.
   *
   * @param what the owner of the value
   */
  public CrailException refusal(Object what, int length) {
    return length > maxLength
        ? ErrorCode.LIMIT_EXCEEDED.exception(
            what + ": a small value of " + length + " bytes, at most " + maxLength)
        : ErrorCode.NO_SPACE.exception(
            what
                + ": small values have taken the "
                + ByteText.of(capacity)
                + " of memory for them");
  }

  /** Gives memory back. */
  public void giveBack(int length) {
    long less = SmallBytes.footprint(length);
    used.addAndGet(-less);
    budget.give(less);
  }
}
