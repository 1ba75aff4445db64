/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;

/** A network that carries frames. It knows opcodes and bytes, never an operation. Thread-safe. */
public interface Transport extends AutoCloseable {
  /**
   * Starts to serve on an address; port 0 takes any free one.
   *
   * @param name names the server's threads
   * @throws IOException that names the address when it cannot be bound
   */
  ServerEndpoint listen(String name, InetSocketAddress address, Service service) throws IOException;

  /** Creates a loop for client connections. */
  ClientLoop newClientLoop(String name);

  /** Limits that suit a client's peers behind this network. */
  default RpcPeer.Options peerOptions() {
    return RpcPeer.Options.defaults();
  }

  /** Releases what the transport itself holds; servers and loops are closed before it. */
  @Override
  void close();

  /** A listening server. */
  interface ServerEndpoint extends AutoCloseable {
    /** The address it serves on, with the real port. */
    InetSocketAddress address();

    /**
     * What it counts, by names: connections, the memory that it holds for peers, why connections
     * were ended. Empty where it counts nothing.
     */
    default Map<String, Long> statistics() {
      return Map.of();
    }

    /** Stops listening, closes all connections and ends its threads. */
    @Override
    void close();
  }
}
