/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A deadline has passed; see {@link ErrorCode#TIMED_OUT}. */
public final class CrailTimeoutException extends CrailException {
  private static final long serialVersionUID = 1L;

  CrailTimeoutException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
