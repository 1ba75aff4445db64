/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A guard of a compound operation does not hold; see {@link ErrorCode#CONDITION_FAILED}. */
public final class ConditionFailedException extends CrailException {
  private static final long serialVersionUID = 1L;

  ConditionFailedException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
