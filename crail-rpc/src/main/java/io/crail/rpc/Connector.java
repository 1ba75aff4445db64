/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.net.InetSocketAddress;

/** Makes the client connections of a loop. */
public interface Connector {
  /**
   * Begins to connect. In the loop. The handler learns the outcome, by the deadline at the latest.
   *
   * @param address may be unresolved
   * @param deadlineNanos when the attempt fails, by the clock of the loop
   */
  void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler);
}
