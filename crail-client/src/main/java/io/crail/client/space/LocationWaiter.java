/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.common.error.CrailException;

/**
 * An operation that continues once the location of its bytes is known. All methods are called in
 * the loop.
 */
public interface LocationWaiter {
  /** The position of the first byte that has not been issued. */
  long next();

  /** The position after the last byte. */
  long end();

  /** True when this needs no more locations, for example after its deadline. */
  boolean isIssuingEnded();

  /** There is an answer: issues all pieces whose location is known. */
  void advance();

  /**
   * Takes the rest of the bytes to read from a small value instead of issuing reads.
   *
   * @param value all bytes of the file
   */
  void supply(byte[] value);

  /**
   * There is no space yet.
   *
   * @param shortage the error with which this fails when it has no more patience
   * @return true when this goes on waiting; else it has given up issuing
   */
  boolean awaitsSpace(CrailException shortage);

  /** Gives up issuing. */
  void locationFailed(CrailException cause);

  /**
   * There is no other space for the remaining bytes, and they may still arrive in the extent that
   * was given up.
   */
  void notReplaced(CrailException cause);
}
