/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/** The data were on a datanode that was restarted; see {@link ErrorCode#DATA_LOST}. */
public final class DataLostException extends CrailException {
  private static final long serialVersionUID = 1L;

  DataLostException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
