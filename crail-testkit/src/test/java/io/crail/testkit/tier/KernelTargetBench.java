/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.KernelTarget;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** The NVMf tier, on the target of the test machine's kernel. */
final class KernelTargetBench extends TierBench {
  private final String target;
  private NettyTransport transport;

  /**
   * Creates a bench.
   *
   * @param target as a datanode is told of it
   */
  KernelTargetBench(String target) {
    this.target = target;
  }

  private static Configuration.Builder patient() {
    return Configuration.builder()
        .set(NvmfStorageKeys.KEEP_ALIVE, KernelTarget.KEEP_ALIVE)
        .set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s");
  }

  @Override
  StorageServer newServer() throws IOException {
    KernelTarget.listen();
    Configuration settings =
        patient()
            .set(NvmfStorageKeys.TARGETS, target)
            .set(NvmfStorageKeys.OVERWRITE, true)
            .set(NvmfStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
            .set(NvmfStorageKeys.ALLOCATION_SIZE, REGION)
            .build();
    return new NvmfStorageTier().createServer(settings, List.of());
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    throw new UnsupportedOperationException("clients do not connect to the datanode");
  }

  @Override
  boolean isOnThePath() {
    return false;
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(Configuration.builder().build());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return new NvmfStorageTier()
        .createClient(new StorageClient.Context(patient().build(), transport, loop, 1));
  }

  @Override
  int bytesOfTransfer() {
    // The sectors that a part needs are staged, and lambdas of the driver are counted as well.
    return -1;
  }

  @Override
  void close() {
    transport.close();
  }
}
