/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.rdma.RdmaStorageTier;
import io.crail.testkit.contract.TierContract;
import io.crail.testkit.rdma.RdmaHost;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** The contract over a datanode in this process, behind the second device of the test machine. */
abstract class RdmaTierContract extends TierContract {
  @TempDir Path dataPath;

  private NettyTransport transport;

  Configuration.Builder settings() {
    return Configuration.builder()
        .set(RdmaStorageKeys.INTERFACE, RdmaHost.SERVER)
        .set(RdmaStorageKeys.PORT, 0)
        .set(RdmaStorageKeys.CONNECT_TIMEOUT, "20s")
        .set(RdmaStorageKeys.DATA_PATH, dataPath)
        .set(RdmaStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
        .set(RdmaStorageKeys.ALLOCATION_SIZE, REGION);
  }

  @Override
  protected StorageServer newServer() {
    return new RdmaStorageTier().createServer(settings().build(), List.of());
  }

  @Override
  protected StorageServer newServerAt(InetSocketAddress address) {
    return new RdmaStorageTier()
        .createServer(settings().build(), List.of("-p", String.valueOf(address.getPort())));
  }

  @Override
  protected ClientLoop newLoop() {
    transport = new NettyTransport(settings().build());
    return transport.newClientLoop("test");
  }

  @Override
  protected StorageClient newClient(ClientLoop clientLoop) throws Exception {
    return new RdmaStorageTier()
        .createClient(new StorageClient.Context(settings().build(), transport, clientLoop, 1));
  }

  @Override
  protected void closeAll() {
    transport.close();
  }
}
