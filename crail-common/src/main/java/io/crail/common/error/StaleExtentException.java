/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The extent belongs to another node now; see {@link ErrorCode#STALE_EXTENT}. */
public final class StaleExtentException extends CrailException {
  private static final long serialVersionUID = 1L;

  StaleExtentException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
