/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Generation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The generations of a region: a 64-bit cell for each unit of {@link Extent#MIN_LENGTH} bytes. The
 * cell says for which allocation of the space the bytes of the unit were written last. A cell only
 * grows.
 *
 * <p>The cells may lie in a mapped file that the datanode and the clients of its host share. A
 * write calls {@link #adopt} and then places the bytes. A read calls {@link #verify}, takes the
 * bytes, and calls {@link #verifyAfter}. If a reader takes bytes that a later allocation has
 * placed, the second check shows the later generation, since the generation is stored before the
 * bytes.
 *
 * <p>Thread-safe, and safe between processes that map the same file. Results are codes, since these
 * methods are on the data path.
 */
public final class GenerationTable {
  /** Bytes of a cell. */
  public static final int CELL_LENGTH = Long.BYTES;

  private static final VarHandle CELL =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(Extent.MIN_LENGTH);
  private static final int CELL_SHIFT = Integer.numberOfTrailingZeros(CELL_LENGTH);

  private final ByteBuffer cells;

  /**
   * Creates the table of a region.
   *
   * @param cells direct or mapped memory of {@link #lengthFor} bytes; zeros for a new region
   */
  public GenerationTable(ByteBuffer cells) {
    if (!cells.isDirect()) {
      throw new IllegalArgumentException("generations need direct memory");
    }
    this.cells = cells;
  }

  /** Bytes of the table of a region of {@code regionLength} bytes. */
  public static int lengthFor(int regionLength) {
    return (regionLength >>> UNIT_SHIFT) << CELL_SHIFT;
  }

  /** The generation of the unit that holds the byte at {@code regionOffset}. */
  public long generation(int regionOffset) {
    return (long) CELL.getAcquire(cells, cell(regionOffset));
  }

  /**
   * Takes the units of a range for {@code generation}. After that the bytes may be placed.
   *
   * @return OK, or STALE_EXTENT when a unit belongs to a later generation
   */
  public ErrorCode adopt(int regionOffset, int length, long generation) {
    int first = cell(regionOffset);
    int last = cell(regionOffset + length - 1);
    boolean foreign = false;
    for (int cell = first; cell <= last; cell += CELL_LENGTH) {
      long present = (long) CELL.getAcquire(cells, cell);
      if (present > generation) {
        return ErrorCode.STALE_EXTENT;
      }
      foreign |= present != generation;
    }
    if (foreign) {
      if (!raise(first, last, generation)) {
        return ErrorCode.STALE_EXTENT;
      }
      // Neither compiler nor processor may move the bytes, or a check of other announcements,
      // before this.
      VarHandle.fullFence();
    }
    return ErrorCode.OK;
  }

  private boolean raise(int first, int last, long generation) {
    for (int cell = first; cell <= last; cell += CELL_LENGTH) {
      if (raise(cell, generation) > generation) {
        return false;
      }
    }
    return true;
  }

  /** Raises a cell that is lower; returns its value after that. */
  private long raise(int cell, long generation) {
    long present = (long) CELL.getAcquire(cells, cell);
    while (present < generation) {
      long witness = (long) CELL.compareAndExchange(cells, cell, present, generation);
      present = witness == present ? generation : witness;
    }
    return present;
  }

  /**
   * Checks a range before its bytes are taken.
   *
   * @return OK, STALE_EXTENT when a unit belongs to a later generation, or OUT_OF_RANGE when one
   *     was never written in this generation
   */
  public ErrorCode verify(int regionOffset, int length, long generation) {
    int first = cell(regionOffset);
    int last = cell(regionOffset + length - 1);
    ErrorCode code = ErrorCode.OK;
    for (int cell = first; cell <= last; cell += CELL_LENGTH) {
      long present = (long) CELL.getAcquire(cells, cell);
      if (present != generation) {
        if (present > generation) {
          return ErrorCode.STALE_EXTENT;
        }
        code = ErrorCode.OUT_OF_RANGE;
      }
    }
    return code;
  }

  /**
   * True when a place was fenced after a generation was given. This is the only check of a tier
   * whose network writes no generations here.
   */
  public boolean isFenced(int regionOffset, long generation) {
    return (long) CELL.getAcquire(cells, cell(regionOffset)) > generation;
  }

  /**
   * Checks a range after its bytes were taken or placed: OK means that no other generation has
   * touched them until now. Codes as in {@link #verify}.
   */
  public ErrorCode verifyAfter(int regionOffset, int length, long generation) {
    VarHandle.fullFence();
    return verify(regionOffset, length, generation);
  }

  /**
   * Ends all access under the generations given so far, used or not, by raising every unit far
   * above the highest. This does not stop a copy that has begun.
   *
   * @return the generation that all units have now; later owners have larger ones
   */
  public long fence() {
    int length = cells.capacity();
    long highest = 0;
    for (int cell = 0; cell < length; cell += CELL_LENGTH) {
      long present = (long) CELL.getAcquire(cells, cell);
      // A generation that no namenode gives out is an error, and costs the units that have it.
      highest = present <= Generation.MAX ? Math.max(highest, present) : highest;
    }
    long fence = highest + Generation.GAP;
    for (int cell = 0; cell < length; cell += CELL_LENGTH) {
      raise(cell, fence);
    }
    VarHandle.fullFence();
    return fence;
  }

  private static int cell(int regionOffset) {
    return (regionOffset >>> UNIT_SHIFT) << CELL_SHIFT;
  }
}
