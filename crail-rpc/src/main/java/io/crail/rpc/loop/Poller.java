/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

/**
 * A network in addition to a loop's own, such as a completion queue in memory. The driver of the
 * loop polls it too. While an operation is in progress there, the driver keeps polling for a while
 * before it sleeps. The sleep ends when a descriptor of the poller becomes readable. Where the loop
 * cannot watch descriptors, the sleep is very short instead. All methods run in the loop.
 */
public interface Poller {
  /** Makes the progress that is possible without waiting. Returns true when there was any. */
  boolean poll();

  /** True while an operation is in progress whose end a poll would find. */
  boolean isBusy();

  /** How long the driver keeps polling before it sleeps, while this is busy. */
  long spinNanos();

  /**
   * Called when the driver is about to sleep. From now until the next poll, each event makes a
   * descriptor readable that was given to {@link DrivenLoop#watchDescriptor}. Returns false when an
   * event has come already.
   */
  boolean arm();

  /** The loop has ended: releases everything. Called once, as the last method. */
  void destroy();
}
