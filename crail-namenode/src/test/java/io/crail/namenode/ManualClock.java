/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;

/** Time that a test moves. */
public class ManualClock implements Clock {
  private volatile long nanos = 1_000_000_000L;
  private volatile long epochMillis = 1_750_000_000_000L;

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public long currentTimeMillis() {
    return epochMillis + nanos / 1_000_000;
  }

  public void advanceMillis(long millis) {
    nanos += millis * 1_000_000;
  }

  /** Sets the clock of the host, without any time that passes. */
  public void setForward(long millis) {
    epochMillis += millis;
  }
}
