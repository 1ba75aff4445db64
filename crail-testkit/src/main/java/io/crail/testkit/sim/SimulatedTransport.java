/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The network as one host sees it. */
final class SimulatedTransport implements Transport {
  private final SimulatedNetwork network;
  private final String host;

  SimulatedTransport(SimulatedNetwork network, String host) {
    this.network = network;
    this.host = host;
  }

  @Override
  public ServerEndpoint listen(String name, InetSocketAddress address, Service service)
      throws IOException {
    return network.bind(new SimulatedServer(network, host, service), address);
  }

  @Override
  public ClientLoop newClientLoop(String name) {
    return new SimulatedClientLoop(network, host, name);
  }

  @Override
  public void close() {}
}
