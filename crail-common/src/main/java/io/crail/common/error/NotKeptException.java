/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** There are more bytes than the namenode keeps; see {@link ErrorCode#NOT_KEPT}. */
public final class NotKeptException extends CrailException {
  private static final long serialVersionUID = 1L;

  NotKeptException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
