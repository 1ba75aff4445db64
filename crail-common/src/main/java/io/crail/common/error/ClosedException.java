/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A use after close; see {@link ErrorCode#CLOSED}. */
public final class ClosedException extends CrailException {
  private static final long serialVersionUID = 1L;

  ClosedException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
