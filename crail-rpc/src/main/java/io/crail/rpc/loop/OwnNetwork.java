/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

/** The loop's own network, as the parts of the loop see it. In the loop. */
interface OwnNetwork {
  /**
   * Runs the network once.
   *
   * @param waitNanos the longest time to wait for something to do; negative: do not wait
   */
  void poll(long waitNanos);

  /** False as soon as there is work for the driver, so that it must not fall asleep. */
  boolean mayWait();

  /** False while a poll would find nothing, since there is no connection. */
  boolean isUsed();

  /** Releases the network. Called once, as the last method. */
  void destroy();
}
