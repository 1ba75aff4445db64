/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.UnavailableException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Remembers for a while that the store did not answer, so that not each broadcast value costs a
 * timeout. Thread-safe.
 */
public final class StoreSilence {
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final LongSupplier nanoTime;
  private volatile long endNanos;

  /**
   * Creates it; the store answers.
   *
   * @param nanoTime a clock such as {@link System#nanoTime}
   */
  public StoreSilence(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.endNanos = nanoTime.getAsLong();
  }

  /** Notes a failure, which may be of another kind. */
  public void failed(IOException failure) {
    if (failure instanceof UnavailableException || failure instanceof CrailTimeoutException) {
      endNanos = nanoTime.getAsLong() + PAUSE_NANOS;
    }
  }

  /** Whether the store has not answered lately. */
  public boolean lasts() {
    return nanoTime.getAsLong() - endNanos < 0;
  }
}
