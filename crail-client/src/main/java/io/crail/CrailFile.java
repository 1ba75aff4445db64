/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A node with bytes. Bytes can only be appended, by one writer at a time. The client that creates a
 * file may write to it. Later any client may append, by opening an output stream while no other
 * stream is open.
 */
public interface CrailFile extends CrailNode {
  /**
   * Opens a stream that reads into the caller's buffers.
   *
   * @param readHint bytes that will be read from the start of the file; the stream asks for their
   *     locations ahead of the reads
   * @return the stream
   * @throws Exception a {@code ClosedException} when the store is closed; the error of the create,
   *     for a handle that came early
   */
  CrailInputStream getDirectInputStream(long readHint) throws Exception;

  /**
   * Opens a stream that appends from the caller's buffers.
   *
   * @param writeHint the position up to which bytes will be written; 0 when it is unknown. Up to
   *     this position the stream asks for space ahead of the writes. When that is a block or more,
   *     it asks for whole blocks: one at first, then more as more is written. After this position,
   *     or without a hint, the stream asks ahead once two blocks are written, for half as much as
   *     was written. Space that stays unused goes back with the close
   * @return the stream
   * @throws Exception a {@code WriteLeaseHeldException} when another output stream is open, from
   *     this handle or from any other
   */
  CrailOutputStream getDirectOutputStream(long writeHint) throws Exception;

  /** {@return the write lease that this handle holds; 0 for none} */
  long getToken();

  /** {@return the id of the node} */
  long getFd();

  /**
   * Opens a buffered stream to read.
   *
   * @param readHint as for {@link #getDirectInputStream}
   * @return the stream
   * @throws Exception as {@link #getDirectInputStream}
   */
  CrailBufferedInputStream getBufferedInputStream(long readHint) throws Exception;

  /**
   * Opens a buffered stream to append.
   *
   * @param writeHint as for {@link #getDirectOutputStream}
   * @return the stream
   * @throws Exception as {@link #getDirectOutputStream}
   */
  CrailBufferedOutputStream getBufferedOutputStream(long writeHint) throws Exception;
}
