/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
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

  /** After so many makers that are gone, all their nodes are removed. */
  private static final int MOST_NUMBERS = 8;

  /** Most claims that could not be ended and are remembered. Others become too old. */
  private static final int MOST_LEFT = 1024;

  /** How many of these are ended at a time. */
  private static final int ENDED_AT_ONCE = 8;

  private final CacheStore crail;
  private final CacheNames names;
  private final long patienceNanos;
  private final LongSupplier clockMillis;

  /** Nodes that could not be removed, since Crail did not answer. */
  private final Queue<String> left = new LinkedBlockingQueue<>(MOST_LEFT);

  /**
   * Creates it.
   *
   * @param patience how long one waits for others, whatever happens meanwhile. A claim holds for
   *     half of it, so that the one who follows a maker that is gone is waited for as well
   * @param clockMillis that of the namenodes, as exactly as may be
   */
  LoadClaims(CacheStore crail, CacheNames names, Duration patience, LongSupplier clockMillis) {
    this.crail = crail;
    this.names = names;
    this.patienceNanos = patience.toNanos();
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
    return claim(value, patienceNanos / 2, waits ? patienceNanos : 0, loaded);
  }

  /**
   * Wants to do what only one process is to do at a time, and does not wait for another one.
   *
   * @param hold how long it takes at most
   */
  Claim claimWork(String work, Duration hold) {
    return claim(work, hold.toNanos(), 0, () -> false);
  }

  private Claim claim(String value, long holdNanos, long waitNanos, BooleanSupplier loaded) {
    long beganNanos = System.nanoTime();
    for (int number = 0; number < MOST_NUMBERS; number++) {
      String name = names.claim(value, number);
      Boolean mine = crail.claim(name);
      if (mine == null) {
        return new Claim(Outcome.UNCLAIMED, value, 0);
      }
      if (mine) {
        return new Claim(Outcome.CLAIMED, value, number);
      }
      Outcome outcome = await(name, holdNanos, beganNanos, waitNanos, loaded);
      if (outcome != null) {
        return new Claim(outcome, value, number);
      }
    }
    return new Claim(Outcome.CLAIMED, value, MOST_NUMBERS - 1);
  }

  /** Waits for the one that has made a node; null if it is gone. */
  private Outcome await(
      String name, long holdNanos, long beganNanos, long waitNanos, BooleanSupplier loaded) {
    long pauseNanos = FIRST_PAUSE_NANOS;
    while (true) {
      long madeMillis = crail.madeMillis(name);
      if (madeMillis >= 0 && isOver(madeMillis, holdNanos)) {
        return null;
      }
      if (waitNanos == 0) {
        return Outcome.TAKEN;
      }
      if (madeMillis >= 0) {
        LockSupport.parkNanos(pauseNanos);
        pauseNanos = Math.min(2 * pauseNanos, LAST_PAUSE_NANOS);
      }
      if (loaded.getAsBoolean()) {
        return Outcome.LOADED;
      }
      // A claim that has ended without the value had no success. Others do not try in a row.
      if (madeMillis < 0
          || System.nanoTime() - beganNanos > waitNanos
          || Thread.currentThread().isInterrupted()) {
        return Outcome.UNCLAIMED;
      }
    }
  }

  private boolean isOver(long madeMillis, long holdNanos) {
    return clockMillis.getAsLong() - madeMillis > TimeUnit.NANOSECONDS.toMillis(holdNanos);
  }

  /** Ends a claim, and those before it whose makers are gone. */
  void end(Claim claim) {
    if (claim.outcome() != Outcome.CLAIMED) {
      return;
    }
    boolean removed = true;
    for (int number = 0; number <= claim.number(); number++) {
      removed &= remove(names.claim(claim.value(), number));
    }
    for (int i = 0; i < ENDED_AT_ONCE && removed && !left.isEmpty(); i++) {
      String name = left.poll();
      removed = name == null || remove(name);
    }
  }

  /** Removes a node; at the next end of a claim if not now. */
  private boolean remove(String name) {
    boolean removed = crail.remove(name);
    if (!removed) {
      left.offer(name);
    }
    return removed;
  }
}
