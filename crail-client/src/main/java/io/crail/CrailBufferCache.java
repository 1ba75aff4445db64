/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** Lends buffers of one size. Thread-safe. */
public interface CrailBufferCache {
  /**
   * Lends a buffer. Its position is 0 and its limit is its capacity; its content is arbitrary.
   *
   * @return the buffer
   * @throws Exception a {@code LimitExceededException} when all are lent
   */
  CrailBuffer allocateBuffer() throws Exception;

  /**
   * Takes a lent buffer back. No operation may be using it. A slice of it may be given back in its
   * place: the buffer is back when all slices that were cut from it are. Memory of the program's
   * own ({@code OffHeapBuffer.wrap}) and null are ignored. The buffer and that slice have no memory
   * after that, so that reading from or writing to them fails.
   *
   * @param buffer a buffer that {@link #allocateBuffer} returned, or a slice of it
   * @throws Exception an {@code IllegalArgumentException} for a buffer that another store has lent,
   *     and for a lent buffer that was given back before
   */
  void freeBuffer(CrailBuffer buffer) throws Exception;
}
