/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** The position was neither written nor filled nor trimmed yet. */
public final class NotWrittenException extends LogException {
  private static final long serialVersionUID = 1L;

  NotWrittenException(long position) {
    super("not written: position " + position);
  }
}
