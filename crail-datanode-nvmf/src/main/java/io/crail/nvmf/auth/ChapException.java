/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import io.crail.common.error.ErrorCode;

/** An authentication has failed for good. */
public final class ChapException extends Exception {
  private static final long serialVersionUID = 1;

  private final ErrorCode code;
  private final int explanation;

  ChapException(ErrorCode code, int explanation, String why) {
    super(why);
    this.code = code;
    this.explanation = explanation;
  }

  /** UNSUPPORTED for what a user can change, PROTOCOL for what makes no sense. */
  public ErrorCode code() {
    return code;
  }

  /** What is sent to the target; {@link ChapMessage#NOTHING} when it has failed itself. */
  int explanation() {
    return explanation;
  }
}
