/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A path that breaks a rule; see {@link ErrorCode#INVALID_PATH}. */
public final class InvalidPathException extends CrailException {
  private static final long serialVersionUID = 1L;

  InvalidPathException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
