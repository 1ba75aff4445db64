/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.net.InetSocketAddress;

/** What carries queues: a kind of network, for one loop. Used only in the loop. */
public interface Fabric {
  /**
   * Begins to open the connection of a queue.
   *
   * @param entries entries of the submission queue; one of them stays empty
   * @param deadlineNanos when the attempt fails
   * @param listener learns how it ends
   */
  NvmeQueue open(
      InetSocketAddress address,
      QueueId queue,
      int entries,
      long deadlineNanos,
      NvmeQueue.Listener listener);

  /** Ends the use; all queues are closed. Further calls do nothing. */
  default void close() {}
}
