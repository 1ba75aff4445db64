/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The writer's lease has ended; see {@link ErrorCode#WRITE_LEASE_LOST}. */
public final class WriteLeaseLostException extends CrailException {
  private static final long serialVersionUID = 1L;

  WriteLeaseLostException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
