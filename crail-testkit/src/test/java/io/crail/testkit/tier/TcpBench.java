/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.storage.tcp.TcpStorageTier;
import io.netty.channel.uring.IoUring;
import java.net.InetSocketAddress;
import java.util.List;

/** The TCP tier. */
class TcpBench extends TierBench {
  private final NettyKeys.Io io;
  private final TcpStorageKeys.Memory memory;
  private NettyTransport transport;

  /**
   * Creates a bench.
   *
   * @param io how sockets are driven
   * @param memory where the regions lie
   */
  TcpBench(NettyKeys.Io io, TcpStorageKeys.Memory memory) {
    assumeTrue(io != NettyKeys.Io.IO_URING || IoUring.isAvailable(), "this kernel has no io_uring");
    this.io = io;
    this.memory = memory;
  }

  private Configuration settings() {
    return Configuration.builder()
        .set(NettyKeys.IO, io)
        .set(TcpStorageKeys.MEMORY, memory)
        .set(TcpStorageKeys.PORT, 0)
        .set(TcpStorageKeys.DATA_PATH, directory())
        .set(TcpStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
        .set(TcpStorageKeys.ALLOCATION_SIZE, REGION)
        .build();
  }

  @Override
  StorageServer newServer() {
    return new TcpStorageTier().createServer(settings(), List.of());
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    return new TcpStorageTier()
        .createServer(settings(), List.of("-p", String.valueOf(address.getPort())));
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(settings());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return new TcpStorageTier()
        .createClient(new StorageClient.Context(settings(), transport, loop, 1));
  }

  /** What Netty needs for each write and read. */
  @Override
  int bytesOfTransfer() {
    return io == NettyKeys.Io.IO_URING ? 1500 : 500;
  }

  @Override
  void close() {
    transport.close();
  }
}
