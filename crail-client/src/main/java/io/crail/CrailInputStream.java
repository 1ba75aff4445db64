/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.IOException;
import java.util.concurrent.Future;

/**
 * Reads a file into the caller's buffers, without a copy. Many reads may be outstanding. Above
 * {@code crail.client.outstanding} a call waits until earlier operations have ended. Not
 * thread-safe.
 */
public interface CrailInputStream {
  /** {@return the file} */
  CrailNode getFile();

  /**
   * Reads as many bytes as the buffer has between position and limit, or as the file has left. The
   * positions of stream and buffer advance at once, by the number of bytes that are read; the
   * buffer's limit stays. Until the operation ends, only the operation may use the buffer's bytes.
   *
   * @param buffer direct memory that receives the bytes
   * @return the operation, never null: at the end of the file, or for a buffer without room, it has
   *     ended with length 0
   * @throws Exception an {@code IllegalArgumentException} for a buffer that is not direct; a {@code
   *     ClosedException} on a closed stream
   */
  Future<CrailResult> read(CrailBuffer buffer) throws Exception;

  /**
   * Sets the position.
   *
   * @param position of the next byte
   * @throws IOException an {@code OutOfRangeException} for a position that is negative or after the
   *     end
   */
  void seek(long position) throws IOException;

  /**
   * {@return the number of bytes from the position to the end as the handle knows it, at most 2^31
   * - 1}
   */
  int available();

  /** {@return the position of the next byte} */
  long position();

  /**
   * Waits for the outstanding reads, each until its deadline, and closes the stream.
   *
   * @throws Exception when the thread is interrupted
   */
  void close() throws Exception;
}
