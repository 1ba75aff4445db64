/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** An earlier writer may still write to this space; see {@link ErrorCode#SPACE_PINNED}. */
public final class SpacePinnedException extends CrailException {
  private static final long serialVersionUID = 1L;

  SpacePinnedException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
