/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** Lends buffers of one size. Thread-safe. */
public interface CrailBufferCache {
  /**
   * Lends a buffer, cleared; its content is arbitrary.
   *
   * @throws Exception a {@code LimitExceededException} when all are lent
   */
  CrailBuffer allocateBuffer() throws Exception;

  /**
   * Takes a lent buffer back. No operation may be using it.
   *
   * @throws Exception an {@code IllegalArgumentException} for a buffer that was not lent here, or
   *     was given back before
   */
  void freeBuffer(CrailBuffer buffer) throws Exception;
}
