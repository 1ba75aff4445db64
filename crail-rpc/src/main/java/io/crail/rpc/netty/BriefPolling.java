/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;

/**
 * How an event loop waits. It normally sleeps in the kernel. When it has to expect something, it
 * first polls for a moment. Waking an idle processor can take longer than all the work on a hundred
 * requests, so two ends that exchange many requests should not sleep in turn. When polling does not
 * pay, for example because the other end needs this processor, the loop tries it more and more
 * rarely. Used only by the loop's thread.
 */
final class BriefPolling implements SelectStrategy {
  /** With this many requests at once, or on their way, a loop expects more. */
  static final int MANY = 8;

  private static final int MOST_SKIPPED = 63;

  private final long nanos;
  private final boolean always;
  private boolean expected;
  private boolean late;
  private int penalty;
  private int skipped;

  /**
   * Creates the strategy of one loop.
   *
   * @param nanos how long to poll; 0 means not at all
   * @param always whether the loop expects more after each event
   */
  BriefPolling(long nanos, boolean always) {
    this.nanos = nanos;
    this.always = always && nanos > 0;
    this.expected = this.always;
  }

  /** Lets the next wait begin with polling. */
  void expect() {
    expected = nanos > 0;
  }

  @Override
  public int calculateStrategy(IntSupplier ask, boolean hasTasks) throws Exception {
    if (hasTasks) {
      return ask.get();
    }
    if (!expected) {
      return SELECT;
    }
    expected = always;
    if (skipped > 0) {
      skipped--;
      return SELECT;
    }
    late = false;
    int ready = askForAWhile(ask);
    boolean paid = ready > 0 && !late;
    penalty = paid ? penalty / 2 : Math.min(2 * penalty + 1, MOST_SKIPPED);
    skipped = paid ? 0 : penalty;
    return ready > 0 ? ready : SELECT;
  }

  private int askForAWhile(IntSupplier ask) throws Exception {
    // The first poll is nearly free, but reading the clock is not.
    int ready = ask.get();
    if (ready > 0) {
      return ready;
    }
    long begin = System.nanoTime();
    do {
      ready = ask.get();
      // Also late when the other end could run only because this thread lost the processor.
      late = System.nanoTime() - begin >= nanos;
    } while (ready == 0 && !late);
    return ready;
  }
}
