/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A peer that cannot be reached; see {@link ErrorCode#UNAVAILABLE}. */
public sealed class UnavailableException extends CrailException permits IncompleteException {
  private static final long serialVersionUID = 1L;

  UnavailableException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
