/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

/** A bug: memory was given back by code that did not own it any more. */
public final class DoubleReleaseError extends AssertionError {
  private static final long serialVersionUID = 1;

  /** Creates an error. {@code what} was given back. */
  public DoubleReleaseError(String what) {
    super(what + " was given back twice");
  }
}
