/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts the threads that use memory, and frees it once the memory is closed and unused. A thread
 * first counts itself and then looks whether the memory is closed; who closes it first marks it,
 * and then looks at the counts. All of these accesses have one order. So a thread that has not seen
 * the mark is seen in its count, and the memory stays until it exits. Threads that saw the mark
 * touch nothing, and may only delay the end until they are gone. Thread-safe; entering and leaving
 * take no lock, and threads do not share a counter as long as they are few.
 */
final class Users {
  private static final int STRIPES = 16;
  private static final int STRIPE_LENGTH = 16;

  private final AtomicIntegerArray counts = new AtomicIntegerArray(STRIPES * STRIPE_LENGTH);
  private final AtomicBoolean ended = new AtomicBoolean();
  private final Runnable whenUnused;
  private volatile boolean closed;

  /**
   * Begins without users.
   *
   * @param whenUnused runs once, in the thread that closes this or leaves last
   */
  Users(Runnable whenUnused) {
    this.whenUnused = whenUnused;
  }

  /**
   * Counts the calling thread, which may do so more than once.
   *
   * @return false once this is closed; then the thread must not use the memory, and is not counted
   */
  boolean enter() {
    int at = stripe();
    counts.getAndIncrement(at);
    if (closed) {
      leave(at);
      return false;
    }
    return true;
  }

  /** Counts the calling thread no longer. It has entered before. */
  void exit() {
    leave(stripe());
  }

  private void leave(int at) {
    counts.getAndDecrement(at);
    if (closed) {
      endIfUnused();
    }
  }

  /** Lets no more threads enter. */
  void close() {
    closed = true;
    endIfUnused();
  }

  private void endIfUnused() {
    for (int at = 0; at < STRIPES * STRIPE_LENGTH; at += STRIPE_LENGTH) {
      if (counts.get(at) != 0) {
        return;
      }
    }
    if (ended.compareAndSet(false, true)) {
      whenUnused.run();
    }
  }

  private static int stripe() {
    return ((int) Thread.currentThread().getId() & STRIPES - 1) * STRIPE_LENGTH;
  }
}
