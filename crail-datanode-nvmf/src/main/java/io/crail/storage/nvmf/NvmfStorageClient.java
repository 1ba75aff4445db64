/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.NvmeHost;
import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the NVMf tier. */
final class NvmfStorageClient implements StorageClient {
  private final ClientLoop loop;
  private final NvmeHost host;
  private final ControllerLimits limits;
  private final Initiators initiators;

  NvmfStorageClient(ClientLoop loop, Configuration configuration) {
    this.loop = loop;
    this.host = NvmfStorageKeys.host(configuration);
    // The controllers have deadlines of their own.
    this.limits = NvmfStorageKeys.limits(configuration).patient();
    this.initiators = new Initiators(loop, configuration);
  }

  ClientLoop loop() {
    return loop;
  }

  NvmeHost host() {
    return host;
  }

  ControllerLimits limits() {
    return limits;
  }

  /**
   * The initiator for one of a datanode's targets. In the loop.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when there is none
   */
  Initiator initiator(LentTargets targets, TargetAddress target) throws CrailException {
    return initiators.of(target.transport(), targets.digests());
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new NvmfStorageEndpoint(this, datanode);
  }

  @Override
  public void close() {
    loop.submit(initiators::close);
  }
}
