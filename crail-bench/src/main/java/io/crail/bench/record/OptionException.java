/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/** An invalid command line. The message names the option, its value and what is expected. */
public final class OptionException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public OptionException(String message) {
    super(message);
  }
}
