/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

/** The lease is not held any more, so that this controller must do nothing. */
final class LeaseLostException extends Exception {
  private static final long serialVersionUID = 1L;

  LeaseLostException(String message) {
    super(message);
  }
}
