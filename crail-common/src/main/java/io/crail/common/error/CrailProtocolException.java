/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** Bytes that break the protocol; see {@link ErrorCode#PROTOCOL}. */
public final class CrailProtocolException extends CrailException {
  private static final long serialVersionUID = 1L;

  CrailProtocolException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
