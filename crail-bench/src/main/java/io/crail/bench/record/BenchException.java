/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/** A benchmark that cannot be run on what is there; the message says what to do about it. */
public final class BenchException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public BenchException(String message) {
    super(message);
  }
}
