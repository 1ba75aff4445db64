/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.IOException;
import java.util.concurrent.Future;

/**
 * Appends to a file from the caller's buffers, without a copy. Any number of writes may be
 * outstanding; above {@code crail.client.outstanding} a call waits until others have ended. Not
 * thread-safe.
 *
 * <p>After a write has failed, everything after it would lie after a hole, so later writes fail
 * with the same error. The stream can still be closed: what was written before the failure becomes
 * visible, and {@code close} throws the error.
 */
public interface CrailOutputStream {
  /** The file. */
  CrailNode getFile();

  /**
   * Writes all bytes between the buffer's position and limit. The positions of stream and buffer
   * advance at once, the buffer's limit stays. The buffer's bytes belong to the operation until it
   * ends; then they lie at the datanodes.
   *
   * @throws Exception an {@code IllegalArgumentException} for a buffer that is not direct, a {@code
   *     ClosedException} on a closed stream, a {@code WriteLeaseLostException} when the lease could
   *     not be renewed
   */
  Future<CrailResult> write(CrailBuffer buffer) throws Exception;

  /**
   * Makes what was written so far visible to other clients, once the outstanding writes have ended.
   *
   * @throws IOException when the stream is closed
   */
  Future<Void> sync() throws IOException;

  /** The position, that is, the size of the file with all writes issued so far. */
  long position();

  /** The hint that the stream was opened with. */
  long getWriteHint();

  /**
   * Waits for outstanding writes, each to its deadline, makes them visible, and gives the write
   * lease back.
   *
   * @throws Exception the error of a write that failed, or of the last step; the stream is closed
   *     all the same
   */
  void close() throws Exception;
}
