/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

/** A task to run in a loop. */
@FunctionalInterface
public interface LoopTask {
  /** Runs in the loop; must not block. */
  void runInLoop();

  /** Called by any thread when the loop was closed before the task could run. */
  default void rejected() {}
}
