/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.memory.ValueMemory;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The small values: the length of each, the memory of all, and its limit. They take a little heap
 * as well, from the account of all heap. Thread-safe.
 */
public final class SmallValues {
  private final int maxLength;
  private final long capacity;
  private final HeapBudget budget;
  private final ValueMemory memory;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates the account.
   *
   * @param maxLength most bytes of a small value; 0 for no small values
   * @param capacity most bytes of memory for all of them
   * @param budget the account of all heap, which has to have room for them too
   */
  public SmallValues(int maxLength, long capacity, HeapBudget budget) {
    this.maxLength = maxLength;
    this.capacity = capacity;
    this.budget = budget;
    this.memory = new ValueMemory(capacity);
  }

  /** Most bytes of a small value; 0 when there are none. */
  public int maxLength() {
    return maxLength;
  }

  /** The account of all heap. */
  public HeapBudget budget() {
    return budget;
  }

  /** Bytes of memory that small values take. */
  public long used() {
    return used.get();
  }

  /** Most bytes of memory that small values take, apart from those that replace others. */
  public long capacity() {
    return capacity;
  }

  /** True when more memory would not help: the value is too long, or there is memory for it. */
  public boolean needsNoMore(int length) {
    return length > maxLength
        || (used.get() + ValueMemory.footprint(length) <= capacity
            && budget.hasRoom(SmallBytes.HEAP));
  }

  /** A value of {@code length} bytes without memory; null when it is too long. */
  public SmallBytes of(int length) {
    return length > maxLength ? null : new SmallBytes(memory, length);
  }

  /**
   * Takes memory for a value. The memory of the replaced value counts as free, so a value can be
   * overwritten by one that is not longer. For that moment both values are counted.
   *
   * @param before the replaced value, which the caller gives back afterwards; null for none
   * @return false when there is no memory; then the value must go into extents
   */
  public boolean take(SmallBytes value, SmallBytes before) {
    return take(value, value.length(), before);
  }

  private boolean take(SmallBytes value, int room, SmallBytes before) {
    if (!budget.take(SmallBytes.HEAP, before == null ? 0 : SmallBytes.HEAP)) {
      return false;
    }
    long more = ValueMemory.footprint(room);
    if (count(more, before == null ? 0 : before.footprint())) {
      if (value.takeMemory(room)) {
        return true;
      }
      used.addAndGet(-more);
    }
    budget.give(SmallBytes.HEAP);
    return false;
  }

  private boolean count(long more, long less) {
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
   * Takes memory for a value with more bytes at its end: the rest of its own, or twice as much as
   * it needs, so that many small additions cost little. Under the monitor of the node.
   *
   * @param before the present value, for {@link #succeed}
   * @param more the bytes to add; with them it is at most {@link #maxLength} long
   * @return null when there is no memory
   */
  public SmallBytes extended(SmallBytes before, byte[] more) {
    SmallBytes same = before.extended(ByteBuffer.wrap(more), 0, more.length);
    if (same != null) {
      return same;
    }
    int present = before.length();
    SmallBytes next = new SmallBytes(memory, present + more.length);
    if (!take(next, Math.min(maxLength, 2 * next.length()), before) && !take(next, before)) {
      return null;
    }
    byte[] all = Arrays.copyOf(before.bytes(), next.length());
    System.arraycopy(more, 0, all, present, more.length);
    next.write(ByteBuffer.wrap(all), 0);
    return next;
  }

  /** A value that was admitted before, with its bytes; null when there is no memory. */
  SmallBytes restored(byte[] bytes) {
    SmallBytes value = new SmallBytes(memory, bytes.length);
    if (!value.takeMemory(bytes.length)) {
      return null;
    }
    budget.add(SmallBytes.HEAP);
    used.addAndGet(value.footprint());
    value.write(ByteBuffer.wrap(bytes), 0);
    return value;
  }

  /**
   * Takes the memory of a value back unless the next one is in it.
   *
   * @param next the value that the node has now; null for none
   */
  void succeed(SmallBytes former, SmallBytes next) {
    if (former.isIn(next)) {
      former.leaveMemory();
    } else {
      giveBack(former);
    }
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

  /** Takes the memory of a value back, which no node has any more. */
  void giveBack(SmallBytes value) {
    used.addAndGet(-value.footprint());
    value.giveMemory();
    budget.give(SmallBytes.HEAP);
  }
}
