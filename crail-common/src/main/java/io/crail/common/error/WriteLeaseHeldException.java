/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** Another stream writes to the node; see {@link ErrorCode#WRITE_LEASE_HELD}. */
public final class WriteLeaseHeldException extends CrailException {
  private static final long serialVersionUID = 1L;

  WriteLeaseHeldException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
