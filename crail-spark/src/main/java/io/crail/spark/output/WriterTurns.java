/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how many outputs a process writes at a time. Each has a buffer of the store from its first
 * byte until it is sealed, and readers need some too: if writers had all, each might wait for a
 * reader that its own task feeds on. Thread-safe.
 */
public final class WriterTurns {
  private static final long PAUSE_MILLIS = 20;

  private final int most;
  private final long patienceNanos;
  private final Semaphore turns;

  /**
   * No writer is active yet.
   *
   * @param most most outputs at a time
   * @param patience how long the next one waits for its turn, and for a buffer
   */
  public WriterTurns(int most, Duration patience) {
    this.most = most;
    this.patienceNanos = patience.toNanos();
    this.turns = new Semaphore(most, true);
  }

  /**
   * Waits for a turn; those who came first have theirs first.
   *
   * @throws IOException a {@link LimitExceededException} when the patience has ended
   */
  void take() throws IOException {
    try {
      if (turns.tryAcquire(patienceNanos, TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      throw StoreFailure.of(e);
    }
    throw ErrorCode.LIMIT_EXCEEDED.exception(
        "no turn to write an output: " + most + " others are being written; see crail.cachelimit");
  }

  /** Gives a turn back. */
  void giveBack() {
    turns.release();
  }

  /** What needs a buffer. */
  @FunctionalInterface
  interface Attempt {
    /** Does it; after an error it can be done again. */
    void run() throws IOException;
  }

  /**
   * Does something that needs a buffer, again and again until there is one.
   *
   * @throws IOException a {@link LimitExceededException} when the patience has ended
   */
  void withBuffer(Attempt attempt) throws IOException {
    try {
      attempt.run();
    } catch (LimitExceededException e) {
      again(attempt, requireBuffer(e));
    }
  }

  /** What is above a quota has no use for a buffer. */
  private static LimitExceededException requireBuffer(LimitExceededException missing)
      throws LimitExceededException {
    if (missing.code() != ErrorCode.LIMIT_EXCEEDED) {
      throw missing;
    }
    return missing;
  }

  private void again(Attempt attempt, LimitExceededException first) throws IOException {
    long began = System.nanoTime();
    for (LimitExceededException missing = first; ; ) {
      if (System.nanoTime() - began >= patienceNanos) {
        throw missing;
      }
      try {
        Thread.sleep(PAUSE_MILLIS);
        attempt.run();
        return;
      } catch (InterruptedException e) {
        throw StoreFailure.of(e);
      } catch (LimitExceededException e) {
        missing = requireBuffer(e);
      }
    }
  }
}
