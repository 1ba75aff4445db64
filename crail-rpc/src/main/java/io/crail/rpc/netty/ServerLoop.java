/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import java.util.ArrayList;

/** What a server keeps with one event loop. Used only by the loop's thread. */
final class ServerLoop {
  private final Chunk.Pool pool = new Chunk.Pool();
  private final ArrayList<ServerConnection> connections = new ArrayList<>();
  private final BriefPolling polling;

  ServerLoop(BriefPolling polling) {
    this.polling = polling;
  }

  Chunk.Pool pool() {
    return pool;
  }

  /** Takes note of the number of requests that came at once. */
  void served(int requests) {
    if (requests >= BriefPolling.MANY) {
      polling.expect();
    }
  }

  void add(ServerConnection connection) {
    connections.add(connection);
  }

  void remove(ServerConnection connection) {
    connections.remove(connection);
  }

  void sweep(long nowNanos) {
    for (int i = connections.size() - 1; i >= 0; i--) {
      connections.get(i).sweep(nowNanos);
    }
  }
}
