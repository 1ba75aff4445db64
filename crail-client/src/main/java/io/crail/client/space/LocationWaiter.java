/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.common.error.CrailException;

/** An operation that goes on once it is known where its bytes lie. All of it in the loop. */
public interface LocationWaiter {
  /** The position of the first byte that has not been issued. */
  long next();

  /** The position after the last byte. */
  long end();

  /** True when this needs no location any more, as when its deadline has passed. */
  boolean isIssuingEnded();

  /** There is an answer: issues all pieces whose location is known. */
  void advance();

  /**
   * Takes what is left to be read from the bytes of a small value; in the place of issuing it.
   *
   * @param value all bytes of the file
   */
  void supply(byte[] value);

  /** Gives up issuing. */
  void locationFailed(CrailException cause);

  /** There is no other space for what is left, and it may still arrive where it was given up. */
  void notReplaced(CrailException cause);
}
