/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

/** A command line that is none; the message names option, value and what is expected. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public UsageException(String message) {
    super(message);
  }
}
