/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import io.crail.common.Printable;
import java.io.IOException;

/**
 * An operating error of Crail. Programs decide by {@link #code()}; the message is for people. Each
 * code that a program may want to react to has its own subclass. All other codes have none.
 */
public class CrailException extends IOException {
  private static final long serialVersionUID = 1L;

  /** What went wrong. */
  private final ErrorCode code;

  /** What it happened to; may be empty. */
  private final String detail;

  /**
   * Creates an exception. Use {@link ErrorCode#exception(String)} to get the right subclass.
   *
   * @param code what went wrong
   * @param detail what it happened to (path, node id, address); may be empty
   */
  protected CrailException(ErrorCode code, String detail) {
    super(detail.isEmpty() ? code.text() : code.text() + ": " + Printable.line(detail));
    this.code = code;
    this.detail = detail;
  }

  /** {@return what went wrong} */
  public final ErrorCode code() {
    return code;
  }

  /** {@return what it happened to, unchanged; a path in it may hold any character; may be empty} */
  public final String detail() {
    return detail;
  }

  /**
   * Returns a copy of this exception with the calling thread's stack, and with this exception as
   * its cause. A thread that waits throws the copy of an error that a network thread has found.
   *
   * @return the copy
   */
  public final CrailException rethrown() {
    CrailException copy = code.exception(detail);
    copy.initCause(this);
    return copy;
  }
}
