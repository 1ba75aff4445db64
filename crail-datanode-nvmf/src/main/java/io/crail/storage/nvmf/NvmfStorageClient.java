/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the NVMf tier. */
final class NvmfStorageClient implements StorageClient {
  private final TargetAccess access;

  NvmfStorageClient(ClientLoop loop, Configuration configuration) {
    this.access =
        new TargetAccess(
            loop,
            NvmfStorageKeys.host(configuration),
            // The controllers have deadlines of their own.
            NvmfStorageKeys.limits(configuration).patient(),
            new Initiators(loop, configuration));
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new NvmfStorageEndpoint(access, datanode);
  }

  @Override
  public void close() {
    access.loop().submit(access.initiators()::close);
  }
}
