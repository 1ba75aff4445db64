/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/** A benchmark cannot run on the present cluster or files. The message says what to do. */
public final class BenchException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public BenchException(String message) {
    super(message);
  }
}
