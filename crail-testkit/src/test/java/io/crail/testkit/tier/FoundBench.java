/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** A tier that was found on the class path, started by what it says of itself. */
final class FoundBench extends TierBench {
  private final StorageTier tier;
  private NettyTransport transport;

  FoundBench(StorageTier tier) {
    this.tier = tier;
  }

  /** Its keys may be unknown here, since tiers of others need not have any. */
  private Configuration settings() {
    String size = "crail.storage." + tier.name() + ".allocationsize";
    Configuration.Builder settings = Configuration.builder();
    if (Configuration.hasKeysBelow(size)) {
      settings.set(size, String.valueOf(REGION), "the test");
    }
    return settings.build();
  }

  private List<String> arguments() {
    return tier.sharedArguments(directory(), (long) REGIONS * REGION);
  }

  @Override
  StorageServer newServer() {
    return tier.createServer(settings(), arguments());
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    List<String> arguments = new ArrayList<>(arguments());
    int port = arguments.indexOf("-p");
    if (port >= 0) {
      arguments.set(port + 1, String.valueOf(address.getPort()));
    }
    return tier.createServer(settings(), arguments);
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(settings());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return tier.createClient(new StorageClient.Context(settings(), transport, loop, 1));
  }

  /** Any number: what a tier allocates is for its own tests to bound. */
  @Override
  int bytesOfTransfer() {
    return -1;
  }

  @Override
  void close() {
    transport.close();
  }
}
