/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

/** A command line that cannot be understood; the message says what is wrong with it. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates one; the message is shown as it is, in one line. */
  public UsageException(String message) {
    super(message);
  }
}
