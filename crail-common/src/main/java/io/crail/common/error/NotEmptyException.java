/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A container with children; see {@link ErrorCode#NOT_EMPTY}. */
public final class NotEmptyException extends CrailException {
  private static final long serialVersionUID = 1L;

  NotEmptyException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
