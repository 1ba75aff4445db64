/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/**
 * A limit that was reached: one of a server or client, {@link ErrorCode#LIMIT_EXCEEDED}, or the
 * quota of a directory, {@link ErrorCode#QUOTA_EXCEEDED}.
 */
public final class LimitExceededException extends CrailException {
  private static final long serialVersionUID = 1L;

  LimitExceededException(ErrorCode code, String detail) {
    super(code, detail);
  }
}
