/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

/**
 * A network beside a loop's own, such as a completion queue in memory, which the driver of the loop
 * polls too. While something is under way there the driver goes on asking for a while before it
 * falls asleep; then it sleeps for the descriptors as well, where the loop can watch them, and else
 * for a very short time. All methods run in the loop.
 */
public interface Poller {
  /** Makes what progress is possible without waiting; true when there was any. */
  boolean poll();

  /** True while something is under way whose end a poll would bring. */
  boolean isBusy();

  /** How long the driver goes on asking before it falls asleep, while this is busy. */
  long spinNanos();

  /**
   * The driver is about to sleep: from now on whatever comes makes a descriptor readable that the
   * loop was told of by {@link ClientLoop#watchDescriptor}, until it is polled for. False when
   * something has come already.
   */
  boolean arm();

  /** The loop has ended: releases everything. Called once, as the last method. */
  void destroy();
}
