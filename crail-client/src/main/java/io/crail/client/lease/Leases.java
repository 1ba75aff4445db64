/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.LoopContext;
import io.crail.common.Clock;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** The write leases of a store, in two groups. Thread-safe. */
public final class Leases implements AutoCloseable {
  private final CreatorLeases unused = new CreatorLeases();
  private final WriteLeases inUse;
  private final LeaseTimer timer;
  private final Supplier<? extends RandomGenerator> tokens;

  /**
   * Creates the leases of a store that has none yet.
   *
   * @param context whose loop renews them
   * @param eachTick runs whenever leases may have to be renewed
   * @param timerClock the clock of the timer that renews them; null when only the loop renews them
   * @param tokens where new tokens come from
   */
  public Leases(
      LoopContext context,
      Runnable eachTick,
      Clock timerClock,
      Supplier<? extends RandomGenerator> tokens) {
    this.inUse = new WriteLeases(context, unused, eachTick);
    this.timer = timerClock == null ? null : new LeaseTimer(inUse, timerClock);
    this.tokens = tokens;
  }

  /** The leases of open streams, which are renewed. */
  public WriteLeases inUse() {
    return inUse;
  }

  /** The leases that came with created nodes and are not used. */
  public CreatorLeases unused() {
    return unused;
  }

  /** The token of a new lease. */
  public long newToken() {
    long token = 0;
    while (token == 0) {
      token = tokens.get().nextLong();
    }
    return token;
  }

  /** Wakes the timer: a lease may have to be renewed. */
  public void wake() {
    if (timer != null) {
      timer.wake();
    }
  }

  /** Ends the timer. */
  @Override
  public void close() {
    if (timer != null) {
      timer.close();
    }
  }
}
