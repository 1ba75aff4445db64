/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

/** A job has run, and its result is wrong. The message says what was expected. */
final class WrongResultException extends Exception {
  private static final long serialVersionUID = 1L;

  WrongResultException(String message) {
    super(message);
  }
}
