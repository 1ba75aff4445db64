/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** An argument out of its range; see {@link ErrorCode#INVALID_ARGUMENT}. */
public final class InvalidArgumentException extends CrailException {
  private static final long serialVersionUID = 1L;

  InvalidArgumentException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
