/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;

/** Errors of the store as callers want them that know only {@link IOException}. Stateless. */
public final class StoreFailure {
  private StoreFailure() {}

  /**
   * The error of an operation.
   *
   * @param e what the operation, or the wait for it, has thrown; an interrupt stays with the thread
   * @return the typed error of the store where there is one
   */
  public static IOException of(Exception e) {
    Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
    if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return new InterruptedIOException("interrupted");
    }
    return cause instanceof IOException io ? io : new IOException(cause);
  }
}
