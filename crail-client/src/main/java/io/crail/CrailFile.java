/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A node with bytes, append-only, with one writer at a time. Whoever creates it may write; later
 * any client may append that opens an output stream while nobody else has one open.
 */
public interface CrailFile extends CrailNode {
  /**
   * Opens a stream that reads into the caller's buffers.
   *
   * @param readHint bytes that will be read from the start on; locations up to there are asked for
   *     ahead of the reads
   */
  CrailInputStream getDirectInputStream(long readHint) throws Exception;

  /**
   * Opens a stream that appends from the caller's buffers.
   *
   * @param writeHint position up to which bytes will be written, 0 when nobody knows; space is
   *     asked for ahead of the writes up to there, in whole blocks when it is that much: one at
   *     first, then more the more is written. Behind it, and without one, space is asked for ahead
   *     from two blocks on, half as much as was written. What lies wholly after the end goes back
   *     with the close
   * @throws Exception a {@code WriteLeaseHeldException} when another stream is open, from this
   *     handle or anywhere
   */
  CrailOutputStream getDirectOutputStream(long writeHint) throws Exception;

  /** The write lease that this handle holds, 0 for none. */
  long getToken();

  /** The node's id. */
  long getFd();

  /**
   * Opens a buffered stream to read.
   *
   * @param readHint as for {@link #getDirectInputStream}
   */
  CrailBufferedInputStream getBufferedInputStream(long readHint) throws Exception;

  /**
   * Opens a buffered stream to append.
   *
   * @param writeHint as for {@link #getDirectOutputStream}
   */
  CrailBufferedOutputStream getBufferedOutputStream(long writeHint) throws Exception;
}
