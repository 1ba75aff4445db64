/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.rdma.RdmaStorageTier;
import io.crail.testkit.rdma.RdmaHost;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.UnaryOperator;

/** The RDMA tier, behind the second device of the test machine. */
final class RdmaBench extends TierBench {
  private final UnaryOperator<Configuration.Builder> more;
  private NettyTransport transport;

  /** The tier with its defaults. */
  RdmaBench() {
    this(settings -> settings);
  }

  private RdmaBench(UnaryOperator<Configuration.Builder> more) {
    this.more = more;
  }

  /** A tier that relies on acknowledgements, and registers all memory. */
  static RdmaBench acknowledged() {
    return new RdmaBench(
        settings ->
            settings.set(RdmaStorageKeys.WRITE_FLUSH, false).set(RdmaStorageKeys.COPY_LIMIT, 0));
  }

  private Configuration settings() {
    return more.apply(
            Configuration.builder()
                .set(RdmaStorageKeys.INTERFACE, RdmaHost.SERVER)
                .set(RdmaStorageKeys.PORT, 0)
                .set(RdmaStorageKeys.CONNECT_TIMEOUT, "20s")
                .set(RdmaStorageKeys.DATA_PATH, directory())
                .set(RdmaStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
                .set(RdmaStorageKeys.ALLOCATION_SIZE, REGION))
        .build();
  }

  @Override
  StorageServer newServer() {
    return new RdmaStorageTier().createServer(settings(), List.of());
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    return new RdmaStorageTier()
        .createServer(settings(), List.of("-p", String.valueOf(address.getPort())));
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(settings());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return new RdmaStorageTier()
        .createClient(new StorageClient.Context(settings(), transport, loop, 1));
  }

  @Override
  void close() {
    transport.close();
  }
}
