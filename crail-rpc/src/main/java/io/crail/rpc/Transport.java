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

  /**
   * Creates a loop for calls that no thread waits for. A thread of its own drives it all the time,
   * unless the transport has none. Otherwise an answer waits until the helper looks.
   */
  default ClientLoop newOwnLoop(String name) {
    return newClientLoop(name);
  }

  /** Limits that suit a client's peers on this network. */
  default RpcPeer.Options peerOptions() {
    return RpcPeer.Options.defaults();
  }

  /** Releases the resources of the transport itself. Servers and loops must be closed before. */
  @Override
  void close();

  /** A listening server. */
  interface ServerEndpoint extends AutoCloseable {
    /** The address on which it serves, with the real port. */
    InetSocketAddress address();

    /**
     * Figures by name: connections, those of them that wait for their turn, the memory that it
     * holds for peers, the reasons why connections were ended. Empty if it counts nothing.
     */
    default Map<String, Long> statistics() {
      return Map.of();
    }

    /** Stops listening, closes all connections and ends its threads. */
    @Override
    void close();
  }
}
