/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Decides which process loads a value, a block or a status, from the source. The one that makes a
 * node of the claim's name has it, and removes the node when the value is in Crail. If that node is
 * too old, its maker is gone, and the node with the next number is the claim: so never two take the
 * place of one. A claim only saves work. Whoever does not get one in time loads the value all the
 * same. Thread-safe.
 */
final class LoadClaims {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
  private static final long LAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** After so many dead loaders of a value one loads without a claim. */
  private static final int MOST_NUMBERS = 8;

  private final CacheStore crail;
  private final CacheNames names;
  private final long holdNanos;
  private final LongSupplier clockMillis;

  LoadClaims(CacheStore crail, CacheNames names, Duration hold, LongSupplier clockMillis) {
    this.crail = crail;
    this.names = names;
    this.holdNanos = hold.toNanos();
    this.clockMillis = clockMillis;
  }

  /** What became of the wish to load a block. */
  enum Outcome {
    /** The caller is to load it, and to end the claim. */
    CLAIMED,
    /** Another one has loaded it. */
    LOADED,
    /** Another one loads it. */
    TAKEN,
    /** The caller may load it; there is no claim to end. */
    UNCLAIMED
  }

  /** A claim, or why there is none. */
  record Claim(Outcome outcome, String value, int number) {}

  /**
   * Wants to load a value.
   *
   * @param value its path
   * @param waits whether to wait for another one that loads it
   * @param loaded says whether the value is in Crail meanwhile
   */
  Claim claim(String value, boolean waits, BooleanSupplier loaded) {
    long pauseNanos = FIRST_PAUSE_NANOS;
    long sinceNanos = System.nanoTime();
    for (int number = 0; number < MOST_NUMBERS; ) {
      String name = names.claim(value, number);
      Boolean mine = crail.claim(name);
      if (mine == null) {
        break;
      }
      if (mine) {
        return new Claim(Outcome.CLAIMED, value, number);
      }
      if (!waits) {
        return new Claim(Outcome.TAKEN, value, number);
      }
      long madeMillis = crail.madeMillis(name);
      if (madeMillis != 0 && isOver(madeMillis, sinceNanos)) {
        number++;
        sinceNanos = System.nanoTime();
        continue;
      }
      LockSupport.parkNanos(pauseNanos);
      pauseNanos = Math.min(2 * pauseNanos, LAST_PAUSE_NANOS);
      if (loaded.getAsBoolean()) {
        return new Claim(Outcome.LOADED, value, number);
      }
      if (Thread.currentThread().isInterrupted() || !crail.mayAsk()) {
        break;
      }
    }
    return new Claim(Outcome.UNCLAIMED, value, 0);
  }

  /** By the clock of the namenode; or by ours, in case its clock is ahead. */
  private boolean isOver(long madeMillis, long sinceNanos) {
    long ageMillis = clockMillis.getAsLong() - madeMillis;
    return ageMillis > TimeUnit.NANOSECONDS.toMillis(holdNanos)
        || System.nanoTime() - sinceNanos > holdNanos;
  }

  /** Ends a claim, and those before it whose makers are gone. */
  void end(Claim claim) {
    if (claim.outcome() == Outcome.CLAIMED) {
      for (int number = 0; number <= claim.number(); number++) {
        crail.remove(names.claim(claim.value(), number));
      }
    }
  }
}
