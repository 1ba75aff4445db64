/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** The position was written before; or filled or trimmed, for a write. */
public final class AlreadyWrittenException extends LogException {
  private static final long serialVersionUID = 1L;

  AlreadyWrittenException(long position) {
    super("already written: position " + position);
  }
}
