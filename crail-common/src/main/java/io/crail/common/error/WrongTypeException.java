/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The node's type does not fit; see {@link ErrorCode#WRONG_TYPE}. */
public final class WrongTypeException extends CrailException {
  private static final long serialVersionUID = 1L;

  WrongTypeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
