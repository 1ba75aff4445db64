/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** An operation the peer does not serve; see {@link ErrorCode#UNSUPPORTED}. */
public final class UnsupportedOperationByPeerException extends CrailException {
  private static final long serialVersionUID = 1L;

  UnsupportedOperationByPeerException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
