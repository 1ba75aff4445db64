/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.rpc.ClientLoop;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The simulated tier in virtual time. */
final class SimulatedBench extends TierBench {
  private SimulatedNetwork network;
  private SimulatedTier tier;

  SimulatedNetwork network() {
    return network;
  }

  SimulatedTier tier() {
    return tier;
  }

  @Override
  int bytesOfTransfer() {
    return -1;
  }

  @Override
  StorageServer newServer() {
    network = new SimulatedNetwork(random().nextLong());
    tier = new SimulatedTier(network.random(), network, REGIONS, REGION);
    tier.latency(Duration.ofNanos(10_000), Duration.ofMillis(2));
    return newServerAt(InetSocketAddress.createUnresolved("datanode", 50020));
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    return tier.newServer(address);
  }

  @Override
  ClientLoop newLoop() {
    return network.transport("client").newClientLoop("client");
  }

  @Override
  StorageClient newClient(ClientLoop loop) {
    return tier.newClient(loop, 1);
  }

  @Override
  boolean isThreaded() {
    return false;
  }
}
