/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.client.loop.LoopContext;
import io.crail.rpc.loop.Sweepable;

/**
 * The pauses of a writer between its requests for space that is to come, each twice as long as the
 * one before. Together they are one wait, which ends with space, or when no operation waits any
 * more. In the loop.
 */
final class SpacePause implements Sweepable {
  private static final long FIRST_NANOS = 50_000_000;
  private static final long LONGEST_NANOS = 800_000_000;

  private final LoopContext context;
  private final Runnable ended;
  private final Runnable closing;
  private boolean waits;
  private boolean underWay;
  private long lengthNanos;
  private long endNanos;

  /**
   * Creates it; no pause is under way.
   *
   * @param ended runs at the end of each pause
   * @param closing runs when the store is closed during a pause
   */
  SpacePause(LoopContext context, Runnable ended, Runnable closing) {
    this.context = context;
    this.ended = ended;
    this.closing = closing;
  }

  boolean isUnderWay() {
    return underWay;
  }

  /**
   * Begins a pause.
   *
   * @param shortage what the namenode says of the space to come
   */
  void begin(String shortage) {
    lengthNanos = waits ? Math.min(2 * lengthNanos, LONGEST_NANOS) : FIRST_NANOS;
    if (!waits) {
      waits = true;
      context.spaceWaits().begun(shortage);
    }
    endNanos = context.nanoTime() + lengthNanos;
    underWay = true;
    context.loop().register(this);
  }

  /** Ends the wait, if there is one. */
  void over(boolean hasCome) {
    if (waits) {
      waits = false;
      context.spaceWaits().ended(hasCome);
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (nowNanos - endNanos >= 0) {
      underWay = false;
      context.loop().unregister(this);
      ended.run();
    }
  }

  @Override
  public void loopClosing() {
    over(false);
    closing.run();
  }
}
