/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The parent does not exist; see {@link ErrorCode#PARENT_NOT_FOUND}. */
public final class ParentNotFoundException extends CrailException {
  private static final long serialVersionUID = 1L;

  ParentNotFoundException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
