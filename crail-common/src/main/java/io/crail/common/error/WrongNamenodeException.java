/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A request to the wrong namenode; see {@link ErrorCode#WRONG_NAMENODE}. */
public final class WrongNamenodeException extends CrailException {
  private static final long serialVersionUID = 1L;

  WrongNamenodeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
