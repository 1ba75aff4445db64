/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.Configuration;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.tcp.TcpFabric;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the NVMf tier. */
final class NvmfStorageClient implements StorageClient {
  private final NettyClientLoop loop;
  private final NvmeHost host;
  private final ControllerLimits limits;

  NvmfStorageClient(NettyClientLoop loop, Configuration configuration) {
    this.loop = loop;
    this.host = NvmfStorageKeys.host(configuration);
    this.limits = NvmfStorageKeys.limits(configuration);
  }

  NettyClientLoop loop() {
    return loop;
  }

  NvmeHost host() {
    return host;
  }

  ControllerLimits limits() {
    return limits;
  }

  Fabric fabric(LentTargets targets) {
    return new TcpFabric(loop, targets.options());
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new NvmfStorageEndpoint(this, datanode);
  }

  @Override
  public void close() {
    // The endpoints share only the loop, which belongs to the store.
  }
}
