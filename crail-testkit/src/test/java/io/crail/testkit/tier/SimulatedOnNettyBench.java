/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.util.List;

/** The simulated tier on a real client loop, without latency. */
final class SimulatedOnNettyBench extends TierBench {
  private NettyTransport transport;
  private SimulatedTier tier;

  @Override
  int bytesOfTransfer() {
    return -1;
  }

  @Override
  StorageServer newServer() {
    tier = new SimulatedTier(random(), null, REGIONS, REGION);
    return tier.createServer(Configuration.defaults(), List.of());
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    return tier.newServer(address);
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(Configuration.defaults());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return tier.createClient(
        new StorageClient.Context(Configuration.defaults(), transport, loop, 1));
  }

  @Override
  void close() {
    transport.close();
  }
}
