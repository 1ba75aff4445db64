/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

/** An object whose output waits for the end of the present batch. */
public interface Flushable {
  /** Runs in the loop, before the loop waits. */
  void flushBatch();
}
