/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.IOException;
import java.util.concurrent.Future;

/**
 * Reads a file into the caller's buffers, without a copy. Any number of reads may be outstanding;
 * above {@code crail.client.outstanding} a call waits until others have ended. Not thread-safe.
 */
public interface CrailInputStream {
  /** The file. */
  CrailNode getFile();

  /**
   * Reads as many bytes as the buffer has between position and limit, or the file has left. The
   * positions of stream and buffer advance at once by the number of bytes that were issued, the
   * buffer's limit stays. The buffer's bytes belong to the operation until it ends.
   *
   * @return never null: at the end of the file, or for a buffer without room, an ended operation of
   *     length 0
   * @throws Exception an {@code IllegalArgumentException} for a buffer that is not direct, and a
   *     {@code ClosedException} on a closed stream
   */
  Future<CrailResult> read(CrailBuffer buffer) throws Exception;

  /**
   * Sets the position.
   *
   * @throws IOException an {@code OutOfRangeException} for a position that is negative or after the
   *     end
   */
  void seek(long position) throws IOException;

  /** Bytes from the position to the end as the handle knows it, at most 2^31 - 1. */
  int available();

  /** The position. */
  long position();

  /** Waits for outstanding reads, each to its deadline, and closes. */
  void close() throws Exception;
}
