/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** No such datanode is registered; see {@link ErrorCode#UNKNOWN_DATANODE}. */
public final class UnknownDatanodeException extends CrailException {
  private static final long serialVersionUID = 1L;

  UnknownDatanodeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
