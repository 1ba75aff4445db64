/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A rename of a container into itself; see {@link ErrorCode#CYCLE}. */
public final class CycleException extends CrailException {
  private static final long serialVersionUID = 1L;

  CycleException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
