/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** A rename across namenodes; see {@link ErrorCode#CROSS_NAMENODE}. */
public final class CrossNamenodeException extends CrailException {
  private static final long serialVersionUID = 1L;

  CrossNamenodeException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
