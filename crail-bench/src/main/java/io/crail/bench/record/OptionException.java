/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/** A command line that is none; the message names option, value and what is expected. */
public final class OptionException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public OptionException(String message) {
    super(message);
  }
}
