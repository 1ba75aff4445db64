/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A component of the path is not a container; see {@link ErrorCode#NOT_A_CONTAINER}. */
public final class NotAContainerException extends CrailException {
  private static final long serialVersionUID = 1L;

  NotAContainerException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
