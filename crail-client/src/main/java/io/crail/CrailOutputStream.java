/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.IOException;
import java.util.concurrent.Future;

/**
 * Appends to a file from the caller's buffers, without a copy. Many writes may be outstanding.
 * Above {@code crail.client.outstanding} a call waits until earlier operations have ended. Not
 * thread-safe.
 *
 * <p>When a write has failed, all later bytes would follow a hole. So later writes fail with the
 * same error. The stream can still be closed: the bytes before the failure become visible, and
 * {@code close} throws the error.
 *
 * <p>A stream that the program drops without a close is found when it is collected. Then it ends as
 * with the close of its store: what was written becomes visible, and the lease is given back. If
 * the namenode has no memory for a small value then, its bytes are lost, and the store logs that.
 */
public interface CrailOutputStream {
  /** {@return the file} */
  CrailNode getFile();

  /**
   * Writes all bytes between the buffer's position and limit. The positions of stream and buffer
   * advance at once; the buffer's limit stays. Until the operation ends, the buffer's bytes must
   * not change. Then they are at the datanodes. Only the bytes of a small value, or of a small file
   * where the namenode keeps these, stay here until the close or a {@link #sync}.
   *
   * @param buffer direct memory with the bytes
   * @return the operation
   * @throws Exception an {@code IllegalArgumentException} for a buffer that is not direct; a {@code
   *     ClosedException} on a closed stream; a {@code WriteLeaseLostException} when the lease could
   *     not be renewed
   */
  Future<CrailResult> write(CrailBuffer buffer) throws Exception;

  /**
   * Makes the bytes written so far visible to other clients, after the outstanding writes have
   * ended.
   *
   * @return ends when other clients see the bytes
   * @throws IOException when the stream is closed
   */
  Future<Void> sync() throws IOException;

  /** {@return the position: the size that the file has with all writes issued so far} */
  long position();

  /** {@return the hint with which the stream was opened} */
  long getWriteHint();

  /**
   * Waits for the outstanding writes, each until its deadline, makes their bytes visible, and gives
   * the write lease back.
   *
   * @throws Exception the error of a failed write, or of the close; the stream is closed even then
   */
  void close() throws Exception;
}
