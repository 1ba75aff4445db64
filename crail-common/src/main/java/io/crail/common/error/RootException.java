/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** An operation that the root refuses; see {@link ErrorCode#ROOT}. */
public final class RootException extends CrailException {
  private static final long serialVersionUID = 1L;

  RootException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
