/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.net.InetSocketAddress;

/** A listening server on the simulated network. */
final class SimulatedServer implements Transport.ServerEndpoint {
  private final SimulatedNetwork network;
  private final String host;
  private final Service service;
  private InetSocketAddress address;

  SimulatedServer(SimulatedNetwork network, String host, Service service) {
    this.network = network;
    this.host = host;
    this.service = service;
  }

  void bound(InetSocketAddress newAddress) {
    address = newAddress;
  }

  String host() {
    return host;
  }

  Service service() {
    return service;
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    network.unbind(this);
    for (SimulatedLink link : network.links()) {
      if (link.server() == this) {
        link.closeServerEnd("the server was closed");
      }
    }
  }
}
