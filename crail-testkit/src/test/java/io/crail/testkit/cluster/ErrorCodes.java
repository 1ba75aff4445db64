/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Finds the error code of a failure. */
final class ErrorCodes {
  private ErrorCodes() {}

  /** The code of a failure. Fails when it has none. */
  static ErrorCode of(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof ExecutionException
        || cause instanceof CompletionException
        || cause instanceof UncheckedIOException) {
      cause = cause.getCause();
    }
    if (cause instanceof CrailException known) {
      return known.code();
    }
    throw new AssertionError("not a failure of an operation", failure);
  }
}
