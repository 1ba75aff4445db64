/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** Another datanode is alive at the address; see {@link ErrorCode#ADDRESS_TAKEN}. */
public final class AddressTakenException extends CrailException {
  private static final long serialVersionUID = 1L;

  AddressTakenException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
