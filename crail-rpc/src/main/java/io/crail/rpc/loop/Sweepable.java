/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

/** An object that looks at the time now and then, for deadlines and back-off. */
public interface Sweepable {
  /** How often deadlines are checked. A deadline may be noticed this late. */
  long INTERVAL_NANOS = 20_000_000;

  /**
   * Runs in the loop: about every {@link #INTERVAL_NANOS} while an operation is outstanding, and
   * about once a second otherwise.
   */
  void sweep(long nowNanos);

  /** Fails all outstanding operations before the loop ends. Called once, in the loop. */
  default void loopClosing() {}
}
