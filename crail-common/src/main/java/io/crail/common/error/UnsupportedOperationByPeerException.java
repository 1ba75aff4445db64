/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The peer does not serve the operation; see {@link ErrorCode#UNSUPPORTED}. */
public final class UnsupportedOperationByPeerException extends CrailException {
  private static final long serialVersionUID = 1L;

  UnsupportedOperationByPeerException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
