/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** There is no free space; see {@link ErrorCode#NO_SPACE}. */
public final class NoSpaceException extends CrailException {
  private static final long serialVersionUID = 1L;

  NoSpaceException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
