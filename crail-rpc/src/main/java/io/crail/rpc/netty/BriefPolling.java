/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;

/**
 * How an event loop waits: in the kernel, but for a moment it asks first when it was told to expect
 * something. Waking an idle processor can take longer than all the work on a hundred requests, so
 * two ends that exchange many of them do not sleep in turn. When asking did not pay, as where the
 * other end needs this processor, it is tried more and more rarely. Used only by the loop's thread.
 */
final class BriefPolling implements SelectStrategy {
  /** Who has so many requests at once, or on their way, expects more. */
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
   * @param nanos how long to ask; 0: not at all
   * @param always whether more is expected after everything that came
   */
  BriefPolling(long nanos, boolean always) {
    this.nanos = nanos;
    this.always = always && nanos > 0;
    this.expected = this.always;
  }

  /** Has the next wait begin with asking. */
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
    // The first answer is nearly free, and the clock is not.
    int ready = ask.get();
    if (ready > 0) {
      return ready;
    }
    long begin = System.nanoTime();
    do {
      ready = ask.get();
      // Late as well when the other end came only because this thread had to leave the processor.
      late = System.nanoTime() - begin >= nanos;
    } while (ready == 0 && !late);
    return ready;
  }
}
