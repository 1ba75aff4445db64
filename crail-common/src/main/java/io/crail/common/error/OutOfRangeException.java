/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A position out of range; see {@link ErrorCode#OUT_OF_RANGE}. */
public final class OutOfRangeException extends CrailException {
  private static final long serialVersionUID = 1L;

  OutOfRangeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
