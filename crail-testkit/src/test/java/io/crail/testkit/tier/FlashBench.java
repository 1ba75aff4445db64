/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageTier;
import java.net.InetSocketAddress;

/** The NVMf tier, whose clients have no connection with the datanode. */
abstract class FlashBench extends TierBench {
  private NettyTransport transport;

  /** The configuration of both sides. */
  abstract Configuration.Builder settings();

  @Override
  final StorageServer newServerAt(InetSocketAddress address) {
    throw new UnsupportedOperationException("clients do not connect to the datanode");
  }

  @Override
  final boolean isOnThePath() {
    return false;
  }

  @Override
  final ClientLoop newLoop() {
    transport = new NettyTransport(Configuration.builder().build());
    return transport.newClientLoop("test");
  }

  @Override
  final StorageClient newClient(ClientLoop loop) throws Exception {
    return new NvmfStorageTier()
        .createClient(new StorageClient.Context(settings().build(), transport, loop, 1));
  }

  @Override
  final int bytesOfTransfer() {
    // The target may be in this process; NvmfEndpointTest checks what a client allocates.
    return -1;
  }

  @Override
  final void close() {
    transport.close();
  }
}
