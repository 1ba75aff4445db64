/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.loop;

import java.util.concurrent.atomic.AtomicInteger;

/** Runs a callback after it has been run itself a number of times. Thread-safe. */
public final class CountedCallback implements Runnable {
  private final AtomicInteger left;
  private final Runnable then;

  /** Runs {@code then} at the run number {@code count}. */
  public CountedCallback(int count, Runnable then) {
    this.left = new AtomicInteger(count);
    this.then = then;
  }

  @Override
  public void run() {
    if (left.decrementAndGet() == 0) {
      then.run();
    }
  }
}
