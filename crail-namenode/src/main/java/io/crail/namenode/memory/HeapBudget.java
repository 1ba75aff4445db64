/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The account of the heap that a namenode keeps for its clients: nodes with their names, tables,
 * extents, small values, leases, names of users and hosts, datanodes and regions. What would exceed
 * the capacity is refused before it is made, so that lookups and removals always have the heap that
 * they need. Thread-safe.
 */
public final class HeapBudget {
  /** This part, 1/RESERVE_PART, is kept for what replaces something that is still there. */
  private static final int RESERVE_PART = 16;

  private static final long LEAST_RESERVE = 64 << 10;

  private final long capacity;
  private final long reserve;
  private final String key;
  private final AtomicLong used = new AtomicLong();
  private volatile boolean isReplay;

  /**
   * Creates an empty account.
   *
   * @param capacity bytes
   * @param key the configuration key with which a user changes the capacity
   */
  public HeapBudget(long capacity, String key) {
    this.capacity = capacity;
    this.reserve = Math.max(capacity / RESERVE_PART, LEAST_RESERVE);
    this.key = key;
  }

  /**
   * Begins or ends a replay of records. What they say was admitted before, so nothing is refused,
   * however much heap there is now.
   */
  public void replay(boolean begins) {
    isReplay = begins;
  }

  /** Bytes from which on more is refused. */
  public long capacity() {
    return capacity;
  }

  /** Bytes that are taken now. */
  public long used() {
    return used.get();
  }

  /**
   * The most that is ever taken, apart from a table that is just growing: a replacement may use a
   * reserve.
   */
  public long most() {
    return capacity + reserve;
  }

  /** True when so many bytes can be taken now. */
  public boolean hasRoom(long bytes) {
    return used.get() + bytes <= capacity;
  }

  /**
   * Takes bytes for what replaces something else. That may be refused only if it is larger, or if
   * much is being replaced at the same time.
   *
   * @param freed bytes of what is replaced, which the caller gives back afterwards; 0 for nothing
   * @return false when there is no room; then nothing was taken
   */
  public boolean take(long bytes, long freed) {
    long present;
    do {
      present = used.get();
      boolean fits =
          bytes <= freed
              ? present + bytes <= capacity + reserve
              : present + bytes - freed <= capacity;
      if (!fits && !isReplay) {
        return false;
      }
    } while (!used.compareAndSet(present, present + bytes));
    return true;
  }

  /**
   * Takes bytes as {@link #take} does.
   *
   * @param what what needs them, for the error
   * @throws CrailException with {@link ErrorCode#LIMIT_EXCEEDED} when there is no room
   */
  public void require(long bytes, long freed, Object what) throws CrailException {
    if (!take(bytes, freed)) {
      throw refusal(what);
    }
  }

  /** The error for what has found no room. */
  public CrailException refusal(Object what) {
    return ErrorCode.LIMIT_EXCEEDED.exception(
        what
            + ": the namenode has taken the "
            + ByteText.of(capacity)
            + " of heap for what it holds; give it more heap, or raise "
            + key);
  }

  /** Takes bytes that something needs that was admitted before, such as a growing table. */
  public void add(long bytes) {
    used.addAndGet(bytes);
  }

  /** Gives bytes back. */
  public void give(long bytes) {
    used.addAndGet(-bytes);
  }
}
