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
   * Takes a lent buffer back. No operation may be using it.
   *
   * @param buffer a buffer that {@link #allocateBuffer} returned
   * @throws Exception an {@code IllegalArgumentException} for a buffer that was not lent here, or
   *     was given back before
   */
  void freeBuffer(CrailBuffer buffer) throws Exception;
}
