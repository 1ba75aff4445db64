/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.storage.tcp.TcpStorageTier;
import io.crail.testkit.contract.TierContract;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** The contract over a TCP datanode in this process. */
abstract class TcpTierContract extends TierContract {
  @TempDir Path dataPath;

  private NettyTransport transport;

  /** How sockets are driven. */
  NettyKeys.Io io() {
    return NettyKeys.Io.AUTO;
  }

  /** Where the regions lie. */
  TcpStorageKeys.Memory memory() {
    return TcpStorageKeys.Memory.FILE;
  }

  final Configuration.Builder settings() {
    return Configuration.builder()
        .set(NettyKeys.IO, io())
        .set(TcpStorageKeys.MEMORY, memory())
        .set(TcpStorageKeys.PORT, 0)
        .set(TcpStorageKeys.DATA_PATH, dataPath)
        .set(TcpStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
        .set(TcpStorageKeys.ALLOCATION_SIZE, REGION);
  }

  @Override
  protected StorageServer newServer() {
    return new TcpStorageTier().createServer(settings().build(), List.of());
  }

  @Override
  protected StorageServer newServerAt(InetSocketAddress address) {
    return new TcpStorageTier()
        .createServer(settings().build(), List.of("-p", String.valueOf(address.getPort())));
  }

  @Override
  protected ClientLoop newLoop() {
    transport = new NettyTransport(settings().build());
    return transport.newClientLoop("test");
  }

  @Override
  protected StorageClient newClient(ClientLoop clientLoop) throws Exception {
    return new TcpStorageTier()
        .createClient(new StorageClient.Context(settings().build(), transport, clientLoop, 1));
  }

  /** What Netty needs for each write and read. */
  @Override
  protected int bytesOfTransfer() {
    return 500;
  }

  @Override
  protected void closeAll() {
    transport.close();
  }
}
