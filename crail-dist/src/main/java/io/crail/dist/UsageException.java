/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

/** A command line that cannot be understood; the message says what is wrong with it. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
