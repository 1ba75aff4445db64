/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import io.crail.common.Printable;
import java.io.IOException;

/**
 * An operating error of Crail. {@link #code()} decides; the message is for people. Each code that a
 * program may want to react to has a subclass of its own; what only Crail itself reacts to, or
 * nobody, has none.
 */
public class CrailException extends IOException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String detail;

  /** Creates an exception; use {@link ErrorCode#exception(String)} to get the right subclass. */
  protected CrailException(ErrorCode code, String detail) {
    super(detail.isEmpty() ? code.text() : code.text() + ": " + Printable.line(detail));
    this.code = code;
    this.detail = detail;
  }

  /** What went wrong. */
  public final ErrorCode code() {
    return code;
  }

  /** What it happened to, as it is, so a path in it may hold any character; may be empty. */
  public final String detail() {
    return detail;
  }

  /**
   * A copy of this exception with the calling thread's stack, and this one as its cause: an error
   * that a network thread found is thrown in the thread that waits for it.
   */
  public final CrailException rethrown() {
    CrailException copy = code.exception(detail);
    copy.initCause(this);
    return copy;
  }
}
