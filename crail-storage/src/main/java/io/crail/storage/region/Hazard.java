/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.protocol.part.Extent;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A slot of a {@link HazardTable}, for one write at a time. Thread-safe: the thread whose {@link
 * #announce} succeeds has the slot until its {@link #retract}.
 */
public final class Hazard {
  static final int OWNER = 0;
  static final int GENERATION = 8;
  static final int PIECE = 16;
  static final int REVOKED = 24;

  /** In place of a generation, in a slot that announces nothing any more. */
  private static final long RETIRED = -1;

  private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(Extent.MIN_LENGTH);
  private static final int UNIT_BITS = 24;
  private static final int UNIT_MASK = (1 << UNIT_BITS) - 1;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;
  private final int at;
  private final long idle;

  private Hazard(ByteBuffer memory, int at, long idle) {
    this.memory = memory;
    this.at = at;
    this.idle = idle;
  }

  /**
   * Takes the slot at an offset of the table's memory; null when another thread has just taken it.
   *
   * @param owner the owner of the slot; not 0
   */
  static Hazard claim(ByteBuffer memory, int at, long owner) {
    if (!WORD.compareAndSet(memory, at + OWNER, 0L, owner)) {
      return null;
    }
    WORD.setVolatile(memory, at + GENERATION, idle(owner));
    return new Hazard(memory, at, idle(owner));
  }

  /**
   * The value in place of a generation while an owner announces nothing. It differs from owner to
   * owner, so a thread that continues late takes no slot that belongs to another owner by then.
   */
  private static long idle(long owner) {
    // Never the mark of a retired slot, whose second bit from above is set.
    return (owner | Long.MIN_VALUE) & ~(1L << 62);
  }

  /**
   * Announces that bytes are about to be written. The caller checks their generation after this
   * call; an earlier check does not count.
   *
   * @param length bytes, at least 1
   * @return false while another thread has this slot
   */
  public boolean announce(int region, int offset, int length, long generation) {
    if (!WORD.compareAndSet(memory, at + GENERATION, idle, generation + 1)) {
      return false;
    }
    int first = unit(offset);
    int units = unit(offset + length - 1) + 1 - first;
    WORD.setRelease(memory, at + PIECE, ((long) region << UNIT_BITS | first) << UNIT_BITS | units);
    // Before the check of the generation, which could otherwise overtake the announcement.
    VarHandle.fullFence();
    return true;
  }

  /** Announces that the write has ended. */
  public void retract() {
    WORD.setRelease(memory, at + PIECE, 0L);
    WORD.setRelease(memory, at + GENERATION, idle);
  }

  /** True once the owner of this slot must not write any more, whatever the generations say. */
  boolean isRevoked() {
    return (long) WORD.getAcquire(memory, at + REVOKED) != 0;
  }

  /** Ends all announcements by this slot; false while a write is announced. */
  boolean retire() {
    long present = (long) WORD.compareAndExchange(memory, at + GENERATION, idle, RETIRED);
    return present == idle || present == RETIRED;
  }

  /** Gives back the slot, which announces nothing. */
  void release() {
    release(memory, at);
  }

  /** Gives back the slot at an offset, which announces nothing any more. */
  static void release(ByteBuffer memory, int at) {
    WORD.setRelease(memory, at + PIECE, 0L);
    WORD.setRelease(memory, at + GENERATION, 0L);
    WORD.setRelease(memory, at + REVOKED, 0L);
    WORD.setRelease(memory, at + OWNER, 0L);
  }

  /** Whether a piece has units of a range: those from {@code first} on and before {@code end}. */
  static boolean overlaps(long piece, int region, int first, int end) {
    int unit = firstUnit(piece);
    return region(piece) == region && unit < end && first < unit + units(piece);
  }

  /** The unit of a byte of a region. */
  static int unit(int offset) {
    return offset >>> UNIT_SHIFT;
  }

  /** The region of a piece. */
  static int region(long piece) {
    return (int) (piece >>> 2 * UNIT_BITS);
  }

  /** The first byte of a piece in its region, rounded down to a unit. */
  static int offset(long piece) {
    return firstUnit(piece) << UNIT_SHIFT;
  }

  /** Bytes of a piece, in whole units. */
  static int length(long piece) {
    return units(piece) << UNIT_SHIFT;
  }

  private static int firstUnit(long piece) {
    return (int) (piece >>> UNIT_BITS) & UNIT_MASK;
  }

  private static int units(long piece) {
    return (int) piece & UNIT_MASK;
  }
}
